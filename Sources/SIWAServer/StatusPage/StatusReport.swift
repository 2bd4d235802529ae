internal import JOSE
internal import Lifecycle
internal import ServerRecords

/// What the status page shows. A pure value; it names no user and no token.
struct StatusReport: Sendable {
    /// Something that is wrong, and what to do about it.
    struct Trouble: Hashable, Sendable {
        let fault: String
        let remedy: String
    }

    let at: NumericDate
    let readiness: Readiness
    /// Nil if the database does not answer.
    let counts: ServerCounts?
    /// The last 24 hours, the oldest first; hours without anything are missing.
    let activity: [HourlyActivity]
    let secretExpiries: [(profile: String, expiresAt: NumericDate)]
    let keySetAge: Duration?
    let isKeySetFixed: Bool

    /// What is wrong, the worst first.
    var troubles: [Trouble] {
        readinessTroubles + deliveryTroubles + revocationTroubles + keyTroubles
    }

    private var readinessTroubles: [Trouble] {
        var troubles: [Trouble] = []
        if let fault = readiness.databaseFault {
            troubles.append(
                Trouble(
                    fault: "The database cannot be used: \(fault).",
                    remedy: "Start or repair it. Until then notifications and calls get 503."))
        }
        if let fault = readiness.keyFault {
            troubles.append(
                Trouble(
                    fault: "No client_secret can be made: \(fault).",
                    remedy: "Run siwa doctor with this configuration."))
        }
        return troubles
    }

    private var deliveryTroubles: [Trouble] {
        var troubles: [Trouble] = []
        if let dead = counts?.inbox[.dead], dead > 0 {
            troubles.append(
                Trouble(
                    fault: "\(dead) events could not be delivered.",
                    remedy: "Repair the application, then run siwa inbox replay --state dead."))
        }
        if let age = counts?.oldestPendingEvent, age > Self.lateDelivery {
            troubles.append(
                Trouble(
                    fault: "An event has waited for its delivery for \(age.inWords).",
                    remedy: "Run siwa inbox list --state pending; siwa inbox show has the reason."))
        }
        return troubles
    }

    private var revocationTroubles: [Trouble] {
        var troubles: [Trouble] = []
        if let dead = counts?.revocations[.dead], dead > 0 {
            troubles.append(
                Trouble(
                    fault: "\(dead) revocations were given up.",
                    remedy: "Run siwa revocations list --state dead, then siwa revocations retry."))
        }
        if let age = counts?.oldestPendingRevocation, age > Self.lateRevocation {
            troubles.append(
                Trouble(
                    fault: "A revocation has waited for Apple for \(age.inWords).",
                    remedy: "Run siwa revocations list --state pending, and siwa doctor."))
        }
        return troubles
    }

    private var keyTroubles: [Trouble] {
        guard !isKeySetFixed else {
            return [
                Trouble(
                    fault: "Apple's keys come from a file.",
                    remedy: "Remove server.jwks_file, unless this is a test.")
            ]
        }
        guard keySetAge.map({ $0 > Self.oldKeySet }) ?? true else { return [] }
        return [
            Trouble(
                fault: keySetAge.map { "Apple's keys are \($0.inWords) old." }
                    ?? "Apple's keys have not been fetched.",
                remedy: "Check the network to appleid.apple.com. Notifications are kept meanwhile.")
        ]
    }

    private static let lateDelivery = Duration.seconds(3600)
    private static let lateRevocation = Duration.seconds(3600)
    private static let oldKeySet = Duration.seconds(2 * 3600)
}

extension Duration {
    /// `3 hours`, `1 day`: the largest unit.
    var inWords: String {
        let seconds = Int(components.seconds)
        for (name, length) in [("day", 86_400), ("hour", 3600), ("minute", 60)]
        where seconds >= length {
            let count = seconds / length
            return "\(count) \(name)\(count == 1 ? "" : "s")"
        }
        return "\(seconds) second\(seconds == 1 ? "" : "s")"
    }
}

extension ServerContext {
    /// What the status page shows now.
    func statusReport() async -> StatusReport {
        let gauges = await gauges()
        let activity = try? await workerAccess.run { store throws(VaultError) in
            try store.activity(hours: 24)
        }
        return StatusReport(
            at: clocks.now(), readiness: await readiness(), counts: gauges.counts,
            activity: activity ?? [], secretExpiries: gauges.secretExpiries,
            keySetAge: gauges.keySetAge, isKeySetFixed: keys.isFixed)
    }
}
