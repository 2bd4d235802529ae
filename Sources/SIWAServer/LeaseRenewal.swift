internal import SIWALifecycle

/// Runs `body` while its lease is renewed.
///
/// - Parameter renew: extends the lease.
func renewing<Value: Sendable>(
    by timekeeper: Timekeeper, _ renew: @escaping @Sendable () async -> Void,
    _ body: () async -> Value
) async -> Value {
    let renewal = Task {
        while (try? await timekeeper.sleep(leaseRenewal)) != nil { await renew() }
    }
    defer { renewal.cancel() }
    return await body()
}

/// The duration of a lease. Without a renewal, another replica can then claim the item.
let leaseDuration = Duration.seconds(30)
/// How often leases are renewed.
let leaseRenewal = Duration.seconds(10)
