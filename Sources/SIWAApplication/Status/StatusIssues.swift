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
        return moved + unseen + stopped + absent + issues + vaultFaults + unverified + deliveries
            + revocations
    }

    /// A server's own problems, by kind, the most severe kind first.
    func issueGroups(of record: ServerRecord) -> [[Issue]] {
        guard let facts = record.facts else { return [] }
        return [
            refusals(facts), clock(facts), database(facts, of: record), sharedKeys(facts),
            keyFiles(facts), signers(facts), secrets(facts), listeners(facts), startFiles(facts),
            configuration(facts), expiries(facts), outage(facts), reload(facts), missing(facts),
            validation(facts), keySet(facts, startedAt: record.startedAt),
        ]
    }

    /// What was not tried yet, as a list without end: that it has no problem is not known.
    package var unknowns: [String] {
        guard survey.serverVersion != nil || !survey.servers.isEmpty else {
            return ["siwa-server, which has not run yet"]
        }
        let all = survey.servers.compactMap(\.facts)
        let tried = Set(all.flatMap { $0.profiles.filter(\.isTried).map(\.clientID) })
        let clients = all.flatMap(\.profiles).map(\.clientID).filter { !tried.contains($0) }
        var unknowns = Set(clients).sorted().map { "whether Apple accepts the client \($0)" }
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

    private static func faults(_ count: Int) -> String {
        count == 1 ? "1 fault" : "\(count) faults"
    }

    /// Faults of the vault, and checks that no longer run: nothing else opens every record.
    private var vaultFaults: [Issue] {
        let check = survey.counts?.vaultCheck
        let unreadable = survey.servers.compactMap { $0.facts?.unreadableRecordAt }.max()
        var fault: String?
        if let unreadable, check.map({ $0.at < unreadable }) ?? true {
            fault = "A record of the vault could not be read at \(unreadable.rfc3339)."
        } else if let check, check.faults > 0 {
            fault = "The vault has \(Self.faults(check.faults)), found at \(check.at.rfc3339)."
        }
        if let fault {
            return [
                Issue(
                    fault,
                    "Run siwa vault check: it names each damaged record, and says what to do. When it "
                        + "finds no fault, this problem is gone.",
                    page: "runbooks/backup-and-restore.html#one-damaged-record", in: .vaultCheck)
            ]
        }
        guard let age = check.map({ at - $0.at }), age > Self.lateCheck else { return [] }
        return [
            Issue(
                "The vault was not checked for \(age.words(units: 1)).",
                "Run siwa vault check; every day: systemctl enable --now siwa-vault-check.timer. If the "
                    + "timer runs, journalctl -u siwa-vault-check says why the check did not end.",
                page: "vault.html#backup", in: .vaultCheck)
        ]
    }

    private var moved: [Issue] {
        guard let move = survey.move else { return [] }
        return [
            Issue(
                "Nothing can be stored: \(move.message).",
                move.kind.remedy.capitalized + ".",
                page: "runbooks/sqlite-to-postgresql.html", in: .servers)
        ]
    }

    private var stopped: [Issue] {
        guard survey.serverVersion != nil, survey.servers.isEmpty, !survey.hasUnseenServer
        else { return [] }
        // A running server cannot write its heartbeat.
        if let free = survey.freeSpace, free < ServerFacts.neededSpace {
            return [
                Issue(
                    "The disk where the vault is is full: \(free >> 20) MiB are free, and "
                        + "siwa-server cannot write its heartbeat.",
                    "Make room, at least \(ServerFacts.neededSpace >> 20) MiB. A server that runs "
                        + "goes on by itself; then look again whether one does.",
                    page: "runbooks/notifications.html#the-database-is-down", in: .servers)
            ]
        }
        return [
            Issue(
                "No siwa-server is running, or none can write to the database.",
                "Look whether it runs: systemctl status siwa-server. If it does, GET /readyz says why it "
                    + "has written nothing for half a minute. If not, read why it ended (journalctl -u "
                    + "siwa-server, and siwa-server check), and start it.",
                page: "server.html#commands-signals-and-exit-codes", in: .servers)
        ]
    }

    /// The process runs, and the vault does not show it.
    private var unseen: [Issue] {
        guard survey.hasUnseenServer else { return [] }
        return [
            Issue(
                "siwa-server runs on this machine, and does not write into this vault.",
                "GET /readyz says why, and siwa-server check what to do. If the vault was made or restored, "
                    + "or vault.url was changed, while it ran, and the check finds nothing wrong, start it "
                    + "again: systemctl restart siwa-server.",
                page: "server.html#commands-signals-and-exit-codes", in: .servers)
        ]
    }

    /// The configuration of this machine has a server, and only others run.
    private var absent: [Issue] {
        guard let host = survey.hostWithoutServer else { return [] }
        return [
            Issue(
                "No siwa-server of this machine (\(host)) is running.",
                "Start it, and read why it ended: journalctl -u siwa-server, and siwa-server check.",
                page: "server.html#commands-signals-and-exit-codes", in: .servers)
        ]
    }

    private func refusals(_ facts: ServerFacts) -> [Issue] {
        // Apple refuses what a wrong clock has dated.
        let skew = Self.wrongSkew(facts)
        let clock = skew.map {
            "This machine's clock is \($0.clockDifference), and Apple refuses secrets whose times "
                + "are wrong: set it first. "
        }
        return facts.profiles.filter(\.isRefused).map { profile in
            let transfer = facts.profiles.first {
                $0.clientID == profile.clientID && $0.teamID != profile.teamID
            }.map {
                "Profile \($0.name) has it under team \($0.teamID): if the app was transferred to that "
                    + "team, set default_profile to \($0.name), and restart. "
            }
            return Issue(
                "Apple refuses the client \(profile.clientID)"
                    + (profile.name.isEmpty ? "." : " of profile \(profile.name)."),
                (clock ?? "") + (transfer ?? "")
                    + "Sign-ins and revocations fail; notifications are still received. Run siwa doctor "
                    + "--online\(profile.name.isEmpty ? "" : " --profile \(profile.name)").",
                page: "runbooks/apple-refuses-the-client.html", in: .lastRefusal)
        }
    }

    private func clock(_ facts: ServerFacts) -> [Issue] {
        guard let skew = Self.wrongSkew(facts) else { return [] }
        return [
            Issue(
                "This machine's clock is \(skew.clockDifference).",
                "Set it, or keep it right: \(clockSynchronization).",
                page: "runbooks/notifications.html#the-clock-is-wrong", in: .clock)
        ]
    }

    private static func wrongSkew(_ facts: ServerFacts) -> Duration? {
        facts.clockSkew.map { Duration.seconds($0) }.flatMap { $0.isWrongClock ? $0 : nil }
    }

    /// A key under two Key IDs: Apple knows it by one of them.
    private func sharedKeys(_ facts: ServerFacts) -> [Issue] {
        let uses = facts.profiles.compactMap { profile in
            profile.keyFingerprint.flatMap { fingerprint in
                profile.keyID.map { KeyUse(profile.name, fingerprint, keyID: $0) }
            }
        }
        return KeyUse.faults(among: uses).map {
            Issue(
                $0.capitalized + ".",
                KeyUse.remedy.capitalized + ", and run siwa-server check.",
                page: "server.html#a-profile-with-a-key-of-its-own", in: .lastRefusal)
        }
    }

    /// A key in its file that is not the one in use.
    private func keyFiles(_ facts: ServerFacts) -> [Issue] {
        let vault = facts.vaultKeyFault.map {
            Issue(
                "The vault cannot be opened with the keys that are in their file now: \($0).",
                "Run siwa-server check: it says what to do. A file that is lost is restored from its "
                    + "backup. The keys that were read before are in use, and a restart would fail.",
                page: "vault.html#the-keys", in: .servers)
        }
        return [vault].compactMap(\.self)
            + facts.profiles.compactMap { profile in
                profile.keyFault.map {
                    Issue(
                        (profile.name.isEmpty ? "" : "Profile \(profile.name): ") + "\($0).",
                        "If the file is right, load it: systemctl "
                            + (profile.hasCopiedKey ? "restart" : "reload")
                            + " siwa-server; else restore it. Until then, the key that was read "
                            + "before is in use.",
                        page: "runbooks/new-apple-key.html", in: .secret(profile: profile.name))
                }
            }
    }

    /// Listeners that are open, and that nobody finds.
    private func listeners(_ facts: ServerFacts) -> [Issue] {
        facts.listenerFaults.map {
            Issue(
                "Nobody can connect: \($0).",
                "Start siwa-server again: systemctl restart siwa-server.",
                page: "server.html#commands-signals-and-exit-codes", in: .servers)
        }
    }

    private func expiries(_ facts: ServerFacts) -> [Issue] {
        facts.expiries.compactMap { expiry in
            expiry.fault(at: at).map {
                Issue(
                    $0 + ".", "Renew the file, then load it: systemctl reload siwa-server.",
                    page: "server.html#commands-signals-and-exit-codes", in: .servers)
            }
        }
    }

    /// Files that a start needs, and that are missing or not usable now.
    private func startFiles(_ facts: ServerFacts) -> [Issue] {
        facts.startFaults.map {
            unread(
                "A restart would fail: \($0).",
                "Restore the file or fix it, and run siwa-server check.")
        }
    }

    /// Files that were changed, and a configuration of which the server has its unit's copy.
    private func configuration(_ facts: ServerFacts) -> [Issue] {
        // A file that is not usable is named as such, and not to be loaded.
        let changed = facts.changedFiles.filter { path in
            !facts.startFaults.contains { $0.mentions(path) }
        }.map {
            unread(
                "\($0) was changed since the server read it.",
                "Look whether it is right: siwa-server check. Then load it: systemctl reload siwa-server."
            )
        }
        guard facts.hasOldConfiguration else { return changed }
        return [
            unread(
                "\(facts.configuration ?? "The configuration") was changed since the server read it.",
                "Look whether a start would succeed: siwa-server check. Then load it: systemctl restart "
                    + "siwa-server; a reload fails, and changes nothing.")
        ] + changed
    }

    /// A problem with files that the server reads again only when it is told.
    private func unread(_ fault: String, _ remedy: String) -> Issue {
        Issue(
            fault, remedy + " Until then, what was read before is in use.",
            page: "server.html#commands-signals-and-exit-codes", in: .servers)
    }

    private func outage(_ facts: ServerFacts) -> [Issue] {
        // What stops sign-ins is said first.
        guard let answer = outages(facts).last else { return [] }
        let effect =
            answer.endpoint == "keys" && facts.keySetAge != nil
            ? "Only Apple's keys were asked for: the known ones stay in use, and notifications that "
                + "need another one are kept."
            : "Revocations and notifications are kept and tried again; sign-ins are answered with "
                + "503."
        let cause =
            answer.hasNoTrust
            ? "The certificate of the server that answered is not trusted. Run siwa doctor --online: the "
                + "cause is ca_file, base_url, a proxy, or the authorities of this machine. "
            : "Look at developer.apple.com/system-status, and check the network to "
                + "appleid.apple.com. "
        return [
            Issue(
                "Apple did not answer the last request to /auth/\(answer.endpoint) "
                    + "(\(answer.at.rfc3339)): \(answer.outcome).", cause + effect,
                page: "runbooks/apple-is-down.html", in: .outage)
        ]
    }

    /// The outages that concern anybody, in the order keys, revoke, token: without a revocation that
    /// waits, nobody asks whether the endpoint works again.
    package func outages(_ facts: ServerFacts) -> [ServerFacts.Answer] {
        let waits = survey.counts.map { $0.revocations[.pending] ?? 0 > 0 } ?? true
        return facts.outages.filter { $0.endpoint != "revoke" || waits }
    }

    private func reload(_ facts: ServerFacts) -> [Issue] {
        facts.reloadFaults.map {
            unread(
                "The last reload failed: \($0).",
                "Fix it, or a restart may fail, too; then reload again: systemctl reload "
                    + "siwa-server.")
        }
    }

    private func database(_ facts: ServerFacts, of record: ServerRecord) -> [Issue] {
        if facts.databaseFault == nil,
            let silence = ServerInstance.fault(ofSilence: record.silence)
        {
            return [
                Issue(
                    "siwa-server has ended, or cannot use the database: \(silence).",
                    "Look whether it runs: systemctl status siwa-server. If it does, GET /readyz says what "
                        + "is wrong with the database. If not, run siwa-server check: it says what to do.",
                    page: "server.html#commands-signals-and-exit-codes", in: .servers)
            ]
        }
        guard let fault = facts.databaseFault else { return held(facts) + space(facts) }
        return [
            Issue(
                "The database cannot be used: \(fault).",
                "Run siwa-server check: it says what to do. Until then, GET /readyz answers 503, and so "
                    + "do notifications and API calls that cannot be carried out.",
                page: "runbooks/notifications.html#the-database-is-down", in: .servers)
        ] + held(facts)
    }

    /// Requests that were refused within the last minute because they waited too long.
    private func held(_ facts: ServerFacts) -> [Issue] {
        guard let moment = facts.databaseBusyAt, at - moment < .seconds(60) else { return [] }
        return [
            Issue(
                "Calls of the database waited too long, the last one at \(moment.rfc3339): the requests "
                    + "were answered 503.",
                "Look what holds it: on PostgreSQL, the transactions of pg_stat_activity, the oldest first "
                    + "(ORDER BY xact_start); with SQLite, another program that has the file open "
                    + "(fuser -v), or a slow disk.",
                page: "runbooks/notifications.html#the-database-is-down", in: .servers)
        ]
    }

    /// Before the disk is full.
    private func space(_ facts: ServerFacts) -> [Issue] {
        guard let free = facts.freeSpace, free < ServerFacts.neededSpace else { return [] }
        return [
            Issue(
                "Only \(free >> 20) MiB are free where the vault is.",
                "Make room, at least \(ServerFacts.neededSpace >> 20) MiB. Requests are still "
                    + "served, but GET /readyz answers 503, and when the disk is full, "
                    + "notifications and API calls are, too.",
                page: "runbooks/notifications.html#the-database-is-down", in: .servers)
        ]
    }

    private func signers(_ facts: ServerFacts) -> [Issue] {
        facts.profiles.compactMap { profile in
            guard let fault = profile.signerFault else { return nil }
            let name = profile.name.isEmpty ? "" : " of profile \(profile.name)"
            return Issue(
                "The signer\(name) does not sign: \(fault).",
                "Fix it, then reload with SIGHUP: the old secret serves until it expires.",
                page: "signers.html", in: .signer(profile: profile.name))
        }
    }

    private func secrets(_ facts: ServerFacts) -> [Issue] {
        facts.profiles.compactMap { profile in
            let name = profile.name.isEmpty ? "" : " for profile \(profile.name)"
            let fault =
                profile.fault.map { "There is no client_secret\(name): \($0)." }
                ?? profile.secretExpiresAt.flatMap {
                    $0 <= at ? "The client_secret\(name) expired at \($0.rfc3339)." : nil
                }
            return fault.map {
                Issue(
                    $0, "Run siwa doctor with this configuration.",
                    page: "runbooks/apple-refuses-the-client.html",
                    in: .secret(profile: profile.name))
            }
        }
    }

    private func missing(_ facts: ServerFacts) -> [Issue] {
        var issues: [Issue] = []
        if !facts.missingProfiles.isEmpty {
            let names = facts.missingProfiles.sorted().joined(separator: ", ")
            issues.append(
                Issue(
                    "No profile has the client of pending revocations: \(names).",
                    "Add its profile to the configuration, and load it: systemctl "
                        + (words.isService ? "restart" : "reload") + " siwa-server.",
                    page: "server.html#revocations", in: .revocations(.pending)))
        }
        if facts.unsavedTokens > 0 {
            let count = facts.unsavedTokens
            issues.append(
                Issue(
                    count == 1
                        ? "A refresh token waits to be stored."
                        : "\(count) refresh tokens wait to be stored.",
                    "Fix the database; they are stored then. Until then, no other copy exists. If the log of "
                        + "siwa-server has unsaved_token_kept, a line of unsaved-tokens cannot be stored, "
                        + "and the page says what to do.",
                    page: "server.html#tokens-that-cannot-be-stored", in: .unsavedTokens))
        }
        return issues
    }

    private func validation(_ facts: ServerFacts) -> [Issue] {
        guard let validation = facts.validation else { return [] }
        let page = "runbooks/daily-validation.html#when-it-stops"
        var issues = validation.faults.map { fault in
            Issue(
                "The daily validation of \(fault.clientID) stopped: \(fault.reason).",
                "It goes on by itself, an hour after the cause is gone at the latest. If that is Apple or "
                    + "the network, run siwa doctor --online, and look at "
                    + "developer.apple.com/system-status.", page: page, in: .validation)
        }
        let overdue = Duration.seconds(2 * validation.everySeconds)
        let last = survey.counts?.lastValidation.map { at - $0 }
        if issues.isEmpty, let last, last > overdue {
            issues.append(
                Issue(
                    "No token was validated for \(last.words(units: 1)).",
                    "Look for validation_stopped in the log of siwa-server.", page: page,
                    in: .validation))
        }
        return issues
    }

    /// - Parameter startedAt: when the server started: its first facts are older than its first fetch.
    private func keySet(_ facts: ServerFacts, startedAt: NumericDate) -> [Issue] {
        let page = "runbooks/notifications.html#apples-keys-cannot-be-fetched"
        guard !facts.isKeySetFixed else {
            return [
                Issue(
                    "Apple's keys come from a file.",
                    "Remove server.jwks_file, unless this is a test.", page: page, in: .keySet)
            ]
        }
        let age = facts.keySetAge.map { Duration.seconds($0) }
        guard age.map({ $0 > Self.oldKeySet }) ?? (at - startedAt > Self.firstFetch) else {
            return []
        }
        return [
            Issue(
                age.map { "Apple's keys are \($0.words(units: 1)) old." }
                    ?? "Apple's keys have not been fetched.",
                "Check the network to appleid.apple.com. Notifications are kept until then.",
                page: page, in: .keySet)
        ]
    }

    private var unverified: [Issue] {
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

    private var deliveries: [Issue] {
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

    private var revocations: [Issue] {
        var issues: [Issue] = []
        let page = "server.html#revocations"
        if let dead = survey.counts?.revocations[.dead], dead > 0 {
            issues.append(
                Issue(
                    dead == 1
                        ? "A revocation was given up." : "\(dead) revocations were given up.",
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
                    "A run that was interrupted has left tokens in the middle of their revocation, for "
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
    /// After this time without a check of the vault, two daily ones are missing.
    private static let lateCheck = Duration.seconds(2 * 86_400)
    private static let firstFetch = Duration.seconds(30)
    private static let oldKeySet = Duration.seconds(2 * 3600)
    /// The most unverified notifications that siwa-server keeps.
    package static let mostUnverified = 1000
}

extension String {
    /// The beginning of a sentence.
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
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
