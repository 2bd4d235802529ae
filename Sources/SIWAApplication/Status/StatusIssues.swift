package import SIWAJOSE
internal import SIWALifecycle
package import SIWAServerRecords

// What is wrong, in the operator's words.
extension ServerStatus {
    /// The problems, the most severe first, in the words of a machine without the service.
    var unworded: [Issue] {
        let own = survey.servers.map { (host: $0.server.host, groups: issueGroups(of: $0)) }
        var issues: [Issue] = []
        for kind in 0..<(own.map(\.groups.count).max() ?? 0) {
            for (host, groups) in own where kind < groups.count {
                issues += groups[kind].map { issue in
                    var issue = issue
                    issue.host = own.count > 1 ? host : nil
                    return issue
                }
            }
        }
        return moved + unseen + stopped + absent + issues + vaultFaults + unverified
            + waitingEvents + waitingRevocations + clientsWithoutProfile
    }

    /// A server's own problems, by kind, the most severe kind first.
    func issueGroups(of record: ServerRecord) -> [[Issue]] {
        guard let facts = record.facts else { return [silence(of: record)] }
        return [
            refusals(facts), clock(facts), database(facts, of: record), limit(facts),
            sharedKeys(facts), keyFiles(facts), signers(facts), secrets(facts), listeners(facts),
            startFiles(facts), configuration(facts), expiries(facts), outage(facts),
            reload(facts), missingProfiles(facts), unsavedTokens(facts), validation(facts),
            keySet(facts, startedAt: record.startedAt),
        ]
    }

    /// What was not tried yet, as a list without end: that it has no problem is not known.
    package var unknowns: [String] {
        guard survey.serverVersion != nil || !survey.servers.isEmpty else {
            return ["siwa-server, which has not run with this vault yet"]
        }
        let all = survey.servers.compactMap(\.facts)
        let hosts = survey.servers.filter { $0.facts == nil }.map(\.server.host)
        let starting = Set(hosts).sorted().map {
            "what siwa-server of \($0) finds, which just started"
        }
        let tried = Set(all.flatMap { $0.profiles.filter(\.isTried).map(\.clientID) })
        let clients = all.flatMap(\.profiles).map(\.clientID).filter { !tried.contains($0) }
        var unknowns =
            starting + Set(clients).sorted().map { "whether Apple accepts the client \($0)" }
        if !all.isEmpty, all.allSatisfy({ $0.keySetAge == nil && !$0.isKeySetFixed }) {
            unknowns.append("Apple's keys")
        }
        if !all.isEmpty, all.allSatisfy({ $0.clockSkew == nil }) {
            unknowns.append("this machine's clock")
        }
        if let counts = survey.counts, counts.vaultCheck == nil, !counts.tokens.isEmpty {
            unknowns.append("whether each record can be decrypted, which siwa vault check tries")
        }
        return unknowns.map(words.shown)
    }

    /// When a stored token was last validated. A server whose database cannot be read does not know.
    package var lastValidation: String {
        guard survey.counts != nil || survey.servers.isEmpty else { return "not known" }
        return survey.counts?.lastValidation?.rfc3339 ?? "no token yet"
    }

    /// The last check of the whole vault.
    package var lastVaultCheck: String {
        guard survey.counts != nil || survey.servers.isEmpty else { return "not known" }
        return survey.counts?.vaultCheck.map {
            "\($0.at.rfc3339), \($0.faults == 0 ? "no faults" : Self.faults($0.faults))"
        } ?? "never"
    }

    static func faults(_ count: Int) -> String {
        count == 1 ? "1 fault" : "\(count) faults"
    }
}

extension ServerFacts.Expiry {
    /// Whether it can be used.
    package func isValid(at now: NumericDate) -> Bool {
        at > now && validFrom.map { $0 <= now } ?? true
    }

    /// What is wrong, as a sentence without a full stop; nil if it is valid and lasts long enough.
    package func fault(at now: NumericDate) -> String? {
        if let validFrom, validFrom > now {
            return "\(subject) is not valid before \(validFrom.rfc3339)"
        }
        guard warnsAt <= now else { return nil }
        return at <= now
            ? "\(subject) expired at \(at.rfc3339)"
            : "\(subject) expires in \((at - now).words(units: 1)), at \(at.rfc3339)"
    }
}

extension String {
    /// The beginning of a sentence.
    var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
