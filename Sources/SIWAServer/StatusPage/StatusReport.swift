internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

/// The contents of the status page. A pure value, without user ids and tokens.
struct StatusReport: Sendable {
    /// A problem, and what to do about it.
    struct Issue: Hashable, Sendable {
        let fault: String
        let remedy: String
    }

    let at: NumericDate
    let readiness: Readiness
    /// Nil if the database is unavailable.
    let counts: ServerCounts?
    /// The last 24 hours, the oldest first; hours without events are missing.
    let activity: [HourlyActivity]
    let secretExpiries: [(profile: String, expiresAt: NumericDate)]
    let keySetAge: Duration?
    let isKeySetFixed: Bool
    /// Apple's time minus this machine's; nil if it was not measured within the last hour.
    let clockSkew: Duration?
    /// The signers of the profiles, and why each did not sign when it was last asked.
    var signers: [(profile: String, fault: String?)] = []
    /// Clients of pending revocations that are in no profile.
    var missingProfiles: [ClientID] = []

    /// The problems, the most severe first.
    var issues: [Issue] {
        clockIssues + readinessIssues + signerIssues + unverifiedIssues + deliveryIssues
            + revocationIssues
            + keyIssues
    }

    private var clockIssues: [Issue] {
        guard let clockSkew, clockSkew.isWrongClock else { return [] }
        return [
            Issue(
                fault: "This machine's clock is \(clockSkew.clockDifference).",
                remedy: "Set it, for example with timedatectl set-ntp true.")
        ]
    }

    private var readinessIssues: [Issue] {
        var issues: [Issue] = []
        if let fault = readiness.databaseFault {
            issues.append(
                Issue(
                    fault: "The database cannot be used: \(fault).",
                    remedy:
                        "Start it or fix it. Until then, notifications and API calls are answered with 503."
                ))
        }
        if let fault = readiness.keyFault {
            issues.append(
                Issue(
                    fault: "No client_secret can be minted: \(fault).",
                    remedy: "Run siwa doctor with this configuration."))
        }
        return issues
    }

    private var signerIssues: [Issue] {
        signers.compactMap { signer in
            guard let fault = signer.fault else { return nil }
            let name = signer.profile.isEmpty ? "" : " of profile '\(signer.profile)'"
            return Issue(
                fault: "The signer\(name) does not sign: \(fault).",
                remedy: "Fix it, then reload with SIGHUP: the old secret serves until it expires.")
        }
    }

    private var unverifiedIssues: [Issue] {
        let limit = NotificationReceiver.unverifiedCount
        guard let count = counts?.inbox[.unverified], count >= limit else { return [] }
        return [
            Issue(
                fault: "\(count) notifications wait for Apple's keys, and no more are kept.",
                remedy: "Check the network to appleid.apple.com. If the keys are fresh, forged "
                    + "notifications are being posted: limit the rate in the reverse proxy.")
        ]
    }

    private var deliveryIssues: [Issue] {
        var issues: [Issue] = []
        if let dead = counts?.inbox[.dead], dead > 0 {
            issues.append(
                Issue(
                    fault: dead == 1
                        ? "An event could not be delivered."
                        : "\(dead) events could not be delivered.",
                    remedy: "Fix the application, then run siwa inbox replay --state dead."))
        }
        if let age = counts?.oldestPendingEvent, age > Self.lateDelivery {
            issues.append(
                Issue(
                    fault: "An event has waited for its delivery for \(age.words(units: 1))"
                        + Self.until(counts?.eventAttempts),
                    remedy: "Run siwa inbox list --state pending; siwa inbox show has the reason."))
        }
        return issues
    }

    private var revocationIssues: [Issue] {
        var issues: [Issue] = []
        if let dead = counts?.revocations[.dead], dead > 0 {
            issues.append(
                Issue(
                    fault: dead == 1
                        ? "A revocation was given up." : "\(dead) revocations were given up.",
                    remedy: "Run siwa revocations list --state dead, then siwa revocations retry."))
        }
        if let unknown = counts?.revocations[.unknown], unknown > 0 {
            issues.append(
                Issue(
                    fault: unknown == 1
                        ? "A revocation of a code has an unknown outcome."
                        : "\(unknown) revocations of codes have an unknown outcome.",
                    remedy: "Run siwa revocations list --state unknown. A token may "
                        + "still work: revoke with a new code when the user signs in again."))
        }
        if !missingProfiles.isEmpty {
            let names = missingProfiles.map(\.rawValue).sorted().joined(separator: ", ")
            issues.append(
                Issue(
                    fault: "No profile has the client of pending revocations: \(names).",
                    remedy: "Add its profile to the configuration, and reload."))
        }
        if let age = counts?.oldestPendingRevocation, age > Self.lateRevocation {
            issues.append(
                Issue(
                    fault: "A revocation has waited for Apple for \(age.words(units: 1))"
                        + Self.until(counts?.revocationAttempts),
                    remedy: "Run siwa revocations list --state pending, and siwa doctor."))
        }
        return issues
    }

    private var keyIssues: [Issue] {
        guard !isKeySetFixed else {
            return [
                Issue(
                    fault: "Apple's keys come from a file.",
                    remedy: "Remove server.jwks_file, unless this is a test.")
            ]
        }
        guard keySetAge.map({ $0 > Self.oldKeySet }) ?? true else { return [] }
        return [
            Issue(
                fault: keySetAge.map { "Apple's keys are \($0.words(units: 1)) old." }
                    ?? "Apple's keys have not been fetched.",
                remedy: "Check the network to appleid.apple.com. Notifications are kept until then."
            )
        ]
    }

    /// The end of a sentence about work that waits.
    private static func until(_ attempts: ServerCounts.Attempts?) -> String {
        attempts.map {
            "; the next attempt is at \($0.next.rfc3339), the last at \($0.last.rfc3339)."
        } ?? "."
    }

    private static let lateDelivery = Duration.seconds(3600)
    private static let lateRevocation = Duration.seconds(3600)
    private static let oldKeySet = Duration.seconds(2 * 3600)
}

extension ServerContext {
    /// The current report.
    func statusReport() async -> StatusReport {
        // At the same time, so that the page takes no longer than the slowest of them.
        async let activity = try? monitoringAccess.run { store throws(StoreError) in
            try store.activity(hours: 24)
        }
        let gauges = await gauges()
        return StatusReport(
            at: clocks.now(), readiness: readiness(), counts: gauges.counts,
            activity: await activity ?? [], secretExpiries: gauges.secretExpiries,
            keySetAge: gauges.keySetAge, isKeySetFixed: keys.isFixed,
            clockSkew: gauges.clockSkew, signers: signers,
            missingProfiles: revocationWorker.missingProfiles.current(clients.current))
    }
}
