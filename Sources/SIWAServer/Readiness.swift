internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

/// Whether the server is ready: the database, the keys and Apple's keys.
struct Readiness: Sendable {
    /// Why the database cannot be used; nil if it can.
    let databaseFault: String?
    /// A call that the database refused lately. It does not affect readiness: others succeed.
    let refusedCall: String?
    /// Why no client_secret can be minted; nil if all can.
    let keyFault: String?
    /// Whether a restart would read other keys, or none. It does not affect readiness, because those
    /// that were read before work.
    let keyFiles: String
    /// Whether a restart could use the other files that it reads. It does not affect readiness, either.
    let startFiles: String
    /// Whether clients can connect to the listeners. It does not affect readiness: a load balancer
    /// connects to others than the application.
    let listeners: String
    /// The state of Apple's keys. It does not affect readiness: notifications are kept until the
    /// keys can be fetched, so an outage at Apple takes no replica out of rotation.
    let appleKeys: String

    /// Whether a load balancer should send requests here.
    var isReady: Bool { databaseFault == nil && keyFault == nil }

    /// The report, one line for each part.
    var text: String {
        """
        \(isReady ? "ready" : "not ready")
        database: \(databaseFault ?? refusedCall.map { "ok, but a call was refused: \($0)" } ?? "ok")
        client_secret: \(keyFault ?? "ok")
        key_files: \(keyFiles)
        start_files: \(startFiles)
        listeners: \(listeners)
        apple_keys: \(appleKeys)

        """
    }

    /// The faults in a report that says "not ready"; empty for any other text.
    static func faults(in report: String) -> [String] {
        let lines = report.split(separator: "\n")
        guard lines.first == "not ready" else { return [] }
        return ["database", "client_secret"].compactMap { part in
            lines.first { $0.hasPrefix(part + ": ") }.flatMap { line in
                line == part + ": ok" ? nil : String(line)
            }
        }
    }
}

extension ServiceWords {
    fileprivate func shownFaults(_ faults: [String]) -> String {
        faults.isEmpty ? "ok" : faults.map(shown).joined(separator: "; ")
    }
}

extension ServerContext {
    /// Checks the parts that the server needs.
    func readiness() -> Readiness {
        Readiness(
            databaseFault: heartbeat.readinessFault,
            refusedCall: heartbeat.refusal.flatMap {
                clocks.now() - $0.at < .seconds(60) ? $0.reason : nil
            }, keyFault: keyFault(),
            keyFiles: keyFileFault().map(words.shown) ?? comparedKeyFiles,
            startFiles: words.shownFaults(startFaults.current),
            listeners: words.shownFaults(listenerFaults.current + invalidCertificates),
            appleKeys: keys.isFixed
                ? "from a file"
                : keys.age.map { "fetched \(Int($0.components.seconds)) seconds ago" }
                    ?? "not fetched yet")
    }

    private var invalidCertificates: [String] {
        let now = clocks.now()
        return certificates.current.filter { !$0.isValid(at: now) }.compactMap { $0.fault(at: now) }
    }

    /// A copy does not change with its original, which only `siwa-admin status` reads.
    private var comparedKeyFiles: String {
        clients.current.all.contains(where: \.hasCopiedKey)
            ? "ok: the unit's copy, as at its start; 'siwa-admin status' compares /etc/siwa" : "ok"
    }

    private func keyFileFault() -> String? {
        if let fault = heartbeat.keyFileFault { return fault }
        let faults = keyFaults.current
        return clients.current.all.lazy.compactMap { client in
            faults[client.name].map { "profile '\(client.name)': \($0)" }
        }.first
    }

    /// Reads the private keys again: with each heartbeat and after a reload, and at no request.
    func examineKeyFiles() {
        var faults: [String: String] = [:]
        for client in clients.current.all { faults[client.name] = client.keyFault() }
        keyFaults.replace(with: faults)
    }

    private func keyFault() -> String? {
        for client in clients.current.all {
            do throws(ClientSecretError) {
                _ = try client.secrets.expiry(at: clocks.now())
            } catch {
                return words.shown("profile '\(client.name)': \(Diagnosis(error).message)")
            }
        }
        return nil
    }
}
