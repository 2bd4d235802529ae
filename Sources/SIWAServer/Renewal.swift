internal import Lifecycle

/// Renews a lease while something is done under it.
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

/// How long a claimed item is another replica's without a renewal.
let leaseDuration = Duration.seconds(30)
/// How often leases are renewed.
let leaseRenewal = Duration.seconds(10)
