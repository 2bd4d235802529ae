internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

// Events and revocations that wait or were given up.
extension ServerStatus {
    var unverified: [Issue] {
        guard let count = survey.counts?.inbox[.unverified], count >= Self.mostUnverified else {
            return []
        }
        return [
            Issue(
                "\(count) notifications wait for Apple's keys, and no more are kept.",
                "Check the network to appleid.apple.com. If the keys are fresh, forged "
                    + "notifications are being posted: limit the rate in the reverse proxy.",
                page: "runbooks/notifications.html#forged-notifications-are-counted",
                in: .events(.unverified))
        ]
    }

    var waitingEvents: [Issue] {
        var issues: [Issue] = []
        if let dead = survey.counts?.inbox[.dead], dead > 0 {
            issues.append(
                Issue(
                    dead == 1
                        ? "An event could not be delivered."
                        : "\(dead) events could not be delivered.",
                    "Fix the application, then run siwa inbox replay --state dead.",
                    page: "runbooks/notifications.html#deliveries-are-dead", in: .events(.dead)))
        }
        let age = survey.counts?.oldestPendingEvent ?? .zero
        let failing = survey.counts?.failingEvents
        if age > Self.late {
            issues.append(
                Issue(
                    "An event has waited for its delivery for \(age.words(units: 1))"
                        + Self.until(survey.counts?.eventAttempts),
                    "Run siwa inbox list --state pending; siwa inbox show has the reason.",
                    page: "runbooks/notifications.html#deliveries-are-late", in: .waitingEvents))
        } else if age > Self.restart, let failing, failing.attempts >= 3 {
            issues.append(
                Issue(
                    (failing.count == 1 ? "An event was" : "\(failing.count) events were")
                        + " not accepted by the application, in up to \(failing.attempts) attempts"
                        + Self.until(survey.counts?.eventAttempts),
                    "Look whether the application runs; siwa inbox list --state pending and siwa inbox "
                        + "show say what it answers.",
                    page: "runbooks/notifications.html#deliveries-are-late", in: .waitingEvents))
        }
        return issues
    }

    func missingProfiles(_ facts: ServerFacts) -> [Issue] {
        guard !facts.missingProfiles.isEmpty else { return [] }
        let names = facts.missingProfiles.sorted().joined(separator: ", ")
        return [
            Issue(
                "No profile has the client of pending revocations: \(names).",
                "Add its profile to the configuration, and load it: systemctl "
                    + (words.isService ? "restart" : "reload") + " siwa-server.",
                page: "server.html#revocations", in: .revocations(.pending))
        ]
    }

    /// Clients whose active tokens no running server can use.
    var clientsWithoutProfile: [Issue] {
        let facts = survey.servers.compactMap(\.facts)
        guard !facts.isEmpty, facts.count == survey.servers.count else { return [] }
        let served = Set(facts.flatMap(\.profiles).map(\.clientID))
        let active = (survey.counts?.tokens ?? [:]).compactMap { client, states in
            states[.active].map { (client: client.rawValue, count: $0) }
        }
        return active.filter { $0.count > 0 && !served.contains($0.client) }
            .sorted { $0.client < $1.client }.map { client, count in
                Issue(
                    "No profile has the client \(client), of which the vault has "
                        + (count == 1 ? "an active token." : "\(count) active tokens."),
                    "They are neither validated nor revoked, and Apple's notifications about their users "
                        + "are refused. If a profile was removed or changed, put it back, and load it: "
                        + "systemctl " + (words.isService ? "restart" : "reload")
                        + " siwa-server. If the app is gone, revoke them with its key: siwa batch "
                        + "revoke --vault --client-id \(client).",
                    page: "server.html#settings", in: .servers)
            }
    }

    var waitingRevocations: [Issue] {
        var issues: [Issue] = []
        let page = "server.html#revocations"
        if let dead = survey.counts?.givenUp, dead > 0 {
            let number = dead == ServerCounts.Failing.most ? "At least \(dead)" : "\(dead)"
            issues.append(
                Issue(
                    dead == 1
                        ? "A revocation was given up." : "\(number) revocations were given up.",
                    "Run siwa revocations list --state dead, then siwa revocations retry.",
                    page: page, in: .revocations(.dead)))
        }
        if let unknown = survey.counts?.revocations[.unknown], unknown > 0 {
            issues.append(
                Issue(
                    unknown == 1
                        ? "A revocation of a code has an unknown outcome."
                        : "\(unknown) revocations of codes have an unknown outcome.",
                    "Run siwa revocations list --state unknown. A token may "
                        + "still work: revoke with a new code when the user signs in again.",
                    page: page, in: .revocations(.unknown)))
        }
        if let age = survey.counts?.oldestPendingRevocation, age > Self.late {
            issues.append(
                Issue(
                    "A revocation has waited for Apple for \(age.words(units: 1))"
                        + Self.until(survey.counts?.revocationAttempts),
                    "Run siwa revocations list --state pending, and siwa doctor.", page: page,
                    in: .waitingRevocations))
        }
        if let age = survey.counts?.oldestUnfinished, age > Self.late {
            issues.append(
                Issue(
                    "Tokens were left in the middle of their revocation, for "
                        + "\(age.words(units: 1)).",
                    "Finish it: siwa batch revoke --vault --state revoking --output /dev/null, with the "
                        + "--profile of their client. It asks Apple first which of them still work.",
                    page: "runbooks/account-deletion.html", in: .unfinished))
        }
        return issues
    }

    /// The end of a sentence about work that waits.
    private static func until(_ attempts: ServerCounts.Attempts?) -> String {
        attempts.map {
            $0.next == $0.last
                ? "; the next attempt is at \($0.next.rfc3339)."
                : "; the next attempt is at \($0.next.rfc3339), and all are tried again by "
                    + "\($0.last.rfc3339)."
        } ?? "."
    }

    /// After this time, work that waits is a problem.
    private static let late = Duration.seconds(3600)
    /// An application that does not accept events for so long is not just being restarted.
    private static let restart = Duration.seconds(300)
    /// The most unverified notifications that siwa-server keeps.
    package static let mostUnverified = 1000
}
