internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

// The database, and the tokens in it.
extension ServerStatus {
    var moved: [Issue] {
        guard let move = survey.move else { return [] }
        return [
            Issue(
                "Nothing can be stored: \(move.message).",
                move.kind.remedy.capitalized + ".",
                page: "runbooks/sqlite-to-postgresql.html", in: .servers)
        ]
    }

    func database(_ facts: ServerFacts, of record: ServerRecord) -> [Issue] {
        guard let fault = facts.databaseFault else {
            let silence = silence(of: record)
            return silence.isEmpty ? held(facts) + refused(facts) + space(facts) : silence
        }
        return [
            Issue(
                "The database cannot be used: \(fault).",
                "Run siwa-server check: it says what to do. Until then, notifications and API calls that "
                    + "cannot be carried out are answered 503, and so is GET /readyz, after 15 seconds "
                    + "at most.",
                page: "runbooks/notifications.html#the-database-is-down", in: .servers)
        ] + held(facts)
    }

    /// A server that writes nothing any more.
    func silence(of record: ServerRecord) -> [Issue] {
        guard let fault = ServerInstance.fault(ofSilence: record.silence) else { return [] }
        return [
            Issue(
                "siwa-server has ended, or cannot use the database: \(fault).",
                "Look whether it runs: systemctl status siwa-server. If it does, GET /readyz says what is "
                    + "wrong with the database. If not, run siwa-server check: it says what to do.",
                page: "server.html#commands-signals-and-exit-codes", in: .servers)
        ]
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

    /// Calls that the database refused within the last minute, although the heartbeat is written.
    private func refused(_ facts: ServerFacts) -> [Issue] {
        guard let call = facts.refusedCall, at - call.at < .seconds(60) else { return [] }
        return [
            Issue(
                "The database refuses calls, the last one at \(call.at.rfc3339): \(call.reason).",
                "Run siwa-server check and siwa vault check. If they find nothing, look for a trigger, a "
                    + "constraint or a policy that is not siwa's. Until then, what needs such a call is "
                    + "answered 503 or 500.",
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

    /// Faults of the vault, and checks that no longer run: nothing else opens every record.
    var vaultFaults: [Issue] {
        let check = survey.counts?.vaultCheck
        let unreadable = survey.servers.compactMap(\.facts)
            // A fault of the whole database is not one of its records.
            .filter { $0.databaseFault == nil }.compactMap(\.unreadableRecordAt).max()
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

    func unsavedTokens(_ facts: ServerFacts) -> [Issue] {
        let count = facts.unsavedTokens
        guard count > 0 else { return [] }
        return [
            Issue(
                count == 1
                    ? "A refresh token waits to be stored."
                    : "\(count) refresh tokens wait to be stored.",
                "Fix the database; they are stored then. Until then, the only copies are in the server and "
                    + "its file unsaved-tokens. If the database works, look for unsaved_token_kept in "
                    + "the log of siwa-server: a line of that file cannot be stored, and the page says "
                    + "what to do.",
                page: "server.html#tokens-that-cannot-be-stored", in: .unsavedTokens)
        ]
    }

    func validation(_ facts: ServerFacts) -> [Issue] {
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

    /// After this time without a check of the vault, two daily ones are missing.
    private static let lateCheck = Duration.seconds(2 * 86_400)
}
