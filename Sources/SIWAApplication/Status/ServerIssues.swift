internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

// Whether the servers run, and what they cannot use.
extension ServerStatus {
    var stopped: [Issue] {
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
    var unseen: [Issue] {
        guard survey.hasUnseenServer else { return [] }
        guard survey.isInFile else {
            return [
                Issue(
                    "siwa-server runs on this machine, and does not write into this vault.",
                    "GET /readyz says why: PostgreSQL's disk may be full, or the database read-only. If "
                        + "the vault was made or restored, or vault.url was changed, while it ran, and "
                        + "nothing is wrong else, start it again: systemctl restart siwa-server.",
                    page: "runbooks/notifications.html#the-database-is-down", in: .servers)
            ]
        }
        return [
            Issue(
                "siwa-server runs on this machine, and does not write into this vault.",
                "GET /readyz says why, and siwa-server check what to do. If a file was deleted or replaced, "
                    + "save what the server has open before it ends, as the page says. If the vault was "
                    + "made or restored, or vault.url was changed, while it ran, and nothing is wrong "
                    + "else, start it again: systemctl restart siwa-server.",
                page: "runbooks/backup-and-restore.html#the-file-was-deleted-while-the-server-runs",
                in: .servers)
        ]
    }

    /// The configuration of this machine has a server that does not run.
    var absent: [Issue] {
        guard let host = survey.hostWithoutServer else { return [] }
        return [
            Issue(
                "No siwa-server of this machine (\(host)) is running.",
                "Start it, and read why it ended: journalctl -u siwa-server, and siwa-server check.",
                page: "server.html#commands-signals-and-exit-codes", in: .servers)
        ]
    }

    func limit(_ facts: ServerFacts) -> [Issue] {
        guard let fault = facts.limitFault else { return [] }
        return [
            Issue(
                "The process reaches a limit of the system: \(fault).",
                "Raise the limit (systemctl edit siwa-server: LimitNOFILE= of [Service]), and look who "
                    + "keeps connections open (ss -tnp). Until then, requests fail now and then.",
                page: "server.html#commands-signals-and-exit-codes", in: .servers)
        ]
    }

    /// Listeners that are open, and that nobody finds.
    func listeners(_ facts: ServerFacts) -> [Issue] {
        facts.listenerFaults.map {
            Issue(
                "Nobody can connect: \($0).",
                "Start siwa-server again: systemctl restart siwa-server.",
                page: "server.html#commands-signals-and-exit-codes", in: .servers)
        }
    }

    func expiries(_ facts: ServerFacts) -> [Issue] {
        facts.expiries.compactMap { expiry in
            expiry.fault(at: at).map {
                Issue(
                    $0 + ".", "Renew the file, then load it: systemctl reload siwa-server.",
                    page: "server.html#commands-signals-and-exit-codes", in: .servers)
            }
        }
    }

    /// Files that a start needs, and that are missing or not usable now.
    func startFiles(_ facts: ServerFacts) -> [Issue] {
        // A client_secret that has expired is one here, too, and nothing was read before it.
        let inUse = facts.profiles.compactMap(\.fault)
        return facts.startFaults.filter { start in !inUse.contains { start.mentions($0) } }.map {
            unread(
                "A restart would fail: \($0).",
                "Restore the file or fix it, and run siwa-server check.")
        }
    }

    /// Files that were changed, and a configuration of which the server has its unit's copy.
    func configuration(_ facts: ServerFacts) -> [Issue] {
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

    func reload(_ facts: ServerFacts) -> [Issue] {
        facts.reloadFaults.map {
            unread(
                "The last reload failed: \($0).",
                "Fix it, or a restart may fail, too; then reload again: systemctl reload "
                    + "siwa-server.")
        }
    }

    /// A problem with files that the server reads again only when it is told.
    private func unread(_ fault: String, _ remedy: String) -> Issue {
        Issue(
            fault, remedy + " Until then, what was read before is in use.",
            page: "server.html#commands-signals-and-exit-codes", in: .servers)
    }
}
