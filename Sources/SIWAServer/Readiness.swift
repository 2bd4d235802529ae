internal import Lifecycle
internal import SIWACLI
internal import ServerRecords

/// Whether the server can work, by what it needs.
struct Readiness: Sendable {
    /// Why the database cannot be used; nil if it can.
    let databaseFault: String?
    /// Why no client_secret can be minted; nil if all can.
    let keyFault: String?
    /// What is known of Apple's keys. Without them notifications are kept until they come, so that
    /// an outage at Apple takes no receiver out of rotation.
    let appleKeys: String

    /// Whether requests should be sent here.
    var isReady: Bool { databaseFault == nil && keyFault == nil }

    /// A line for each.
    var text: String {
        """
        \(isReady ? "ready" : "not ready")
        database: \(databaseFault ?? "ok")
        client_secret: \(keyFault ?? "ok")
        apple_keys: \(appleKeys)

        """
    }
}

extension ServerContext {
    /// Looks at what the server needs.
    func readiness() async -> Readiness {
        Readiness(
            databaseFault: await databaseFault(), keyFault: keyFault(),
            appleKeys: keys.isFixed
                ? "from a file"
                : keys.age.map { "fetched \(Int($0.components.seconds)) seconds ago" }
                    ?? "not fetched yet")
    }

    private func databaseFault() async -> String? {
        do throws(VaultError) {
            try await access.run { store throws(VaultError) in try store.check() }
            return nil
        } catch {
            return error.message
        }
    }

    private func keyFault() -> String? {
        for client in clients.current.all {
            do throws(ClientSecretError) {
                _ = try client.secret(at: clocks.now())
            } catch {
                return "profile '\(client.name)': \(error)"
            }
        }
        return nil
    }
}
