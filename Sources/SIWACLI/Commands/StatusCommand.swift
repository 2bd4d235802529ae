internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

/// `siwa status`: what the person on call wants to see.
struct StatusCommand: Command {
    static let name = "status"
    static let abstract = "Show what is wrong, and how siwa-server, vault and Apple are doing."
    static let discussion = """
        Reads what every running siwa-server writes into the database with its heartbeat (every ten \
        seconds), and counts what waits. Problems come first, with what to do; the exit code is then \
        1. Of several servers, the one with the worst problem is shown. siwa-server's status page \
        and GET /v1/status show the same. No key is needed, and nothing is sent.
        """
    static let examples = [
        Example("siwa status", "See what is wrong."),
        Example("siwa status --json", "The same for a script."),
    ]
    static let parameters: [Parameter<Self>] =
        [VaultArgument.option(\.vault), WideFlag.flag(\.isWide)]
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var vault: VaultArgument?
    var isWide = false

    func run(in world: World) async throws {
        try global.output.checkPrinted(among: [
            "at", "ok", "problems", "not_yet_known", "servers", "vault", "events", "revocations",
            "activity",
        ])
        let session = try Session(global, vault: vault, in: world)
        let place = withoutPassword(try session.settings.vaultURL().value)
        var survey = try session.serverStore().survey()
        let vaultFile = Settings.path(inVault: try session.settings.vaultURL().value)
        survey.isInFile = vaultFile != nil
        survey.freeSpace = vaultFile.flatMap { world.files.freeSpace(world.files.resolvedPath($0)) }
        if world.words.isService {
            compareFiles(&survey, in: world)
            lookForOwnServer(&survey, session.settings, in: world)
        }
        let status = ServerStatus(
            survey, at: world.clocks.now(), world.words)
        let file = session.settings.file.map { world.words.shown($0.path) }
        let text = StatusText(status, configuration: file, vault: place, on: world.terminal)
        try session.report(Report(status.json, text: SecretText(text.lines)))
        let issues = status.issues
        guard let first = issues.first else { return }
        throw Diagnosis.negative(
            .checksFailed,
            issues.count == 1 ? "there is a problem" : "there are \(issues.count) problems",
            hints: ["\(first.sentence) \(first.remedy)"])
    }
}

extension StatusCommand {
    /// Compares the configuration and the keys that this machine's server uses with what is in the
    /// files now: the server itself has copies, which a new file in `/etc/siwa` does not change.
    func compareFiles(_ survey: inout ServerSurvey, in world: World) {
        var output = OutputOptions()
        output.isQuiet = true
        let file = try? Settings(ProfileSelection(file: global.config), in: world).file
        for index in survey.servers.indices
        where survey.servers[index].server.host == world.actor.host {
            if let file, let facts = survey.servers[index].facts,
                facts.configuration == world.words.shown(file.path),
                let used = facts.configurationFingerprint, used != file.fingerprint
            {
                survey.servers[index].facts?.hasOldConfiguration = true
            }
            for place in survey.servers[index].facts?.profiles.indices ?? 0..<0 {
                guard let profile = survey.servers[index].facts?.profiles[place],
                    let used = profile.keyFingerprint, !profile.isSignedElsewhere,
                    profile.keyFault == nil,
                    let fault = fault(profile.name, used, output, in: world)
                else { continue }
                survey.servers[index].facts?.profiles[place].keyFault = fault
                survey.servers[index].facts?.profiles[place].hasCopiedKey = true
            }
        }
    }

    /// Notes that this machine's configuration has a server, and either one runs that does not use
    /// this vault, or none does although others do or systemd is to run one.
    func lookForOwnServer(_ survey: inout ServerSurvey, _ settings: Settings, in world: World) {
        let host = world.actor.host
        guard settings.file?.server != nil,
            !survey.servers.contains(where: { $0.server.host == host })
        else { return }
        if world.isRunning("siwa-server", "serve", ServerInstance.longestSilence) {
            survey.hasUnseenServer = true
        } else if !survey.servers.isEmpty || survey.serverVersion == nil && isMissing(in: world) {
            survey.hostWithoutServer = host
        }
    }

    /// Whether systemd is to run a server on this machine, and none runs, not even for a moment.
    private func isMissing(in world: World) -> Bool {
        world.files.exists("/etc/systemd/system/multi-user.target.wants/siwa-server.service")
            && !world.isRunning("siwa-server", "serve", .zero)
    }

    private func fault(
        _ profile: String, _ used: String, _ output: OutputOptions, in world: World
    ) -> String? {
        let selection = ProfileSelection(
            file: global.config, name: profile.isEmpty ? nil : profile)
        do throws(SettingsError) {
            let key = try Session(selection, output, in: world).settings.loadKey(in: world)
            return key.publicKey.fingerprint == used
                ? nil : "\(key.source.value.description) has another key than the one in use"
        } catch {
            return "the private key cannot be used any more: \(error.message)"
        }
    }
}

/// The status as one screen.
private struct StatusText {
    private let status: ServerStatus
    private let place: [(String, String)]
    private let terminal: Terminal

    init(
        _ status: ServerStatus, configuration: String?, vault: String, on terminal: Terminal
    ) {
        (self.status, self.terminal) = (status, terminal)
        place = [("configuration", configuration ?? "none: the environment"), ("vault", vault)]
    }

    var lines: String {
        let issues = status.issues
        let head = issues.isEmpty ? nothingWrong : issues.flatMap(problem)
        let rows = place + server + work + tokens
        let width = rows.map(\.0.count).max() ?? 0
        let table = rows.map { name, value in
            terminal.output.painted(name.padded(to: width), .bold) + "  "
                + printable(value, limit: 300)
        }
        return (head + [""] + table).joined(separator: "\n")
    }

    /// Only what was tried is well.
    private var nothingWrong: [String] {
        let unknowns = status.unknowns
        guard !unknowns.isEmpty else { return ["No problems."] }
        return [
            "No problems are known.",
            "  Not yet known: \(printable(unknowns.joined(separator: ", "), limit: 500)).",
        ]
    }

    private func problem(_ issue: ServerStatus.Issue) -> [String] {
        [
            terminal.output.painted("Problem: " + printable(issue.sentence, limit: 500), .red),
            "  " + printable(issue.remedy, limit: 500), "  See \(issue.address)",
        ]
    }

    private var server: [(String, String)] {
        let servers = status.servers.map { record in
            let age = record.silence
            return (
                "server",
                "\(record.server.host), \(record.server.version), heartbeat "
                    + "\(age.words(units: 1)) ago"
            )
        }
        guard let facts = status.worst?.facts else {
            return servers.isEmpty ? [("server", "none is running")] : servers
        }
        return servers + facts.profiles.map(row) + [
            ("served", "\(facts.configuration ?? "the environment"), \(facts.vault)"),
            ("Apple's keys", keys(facts)), ("last answer", answer(facts.lastAnswer)),
        ] + status.outages(facts).reversed().map { ("no answer", answer($0)) } + [
            ("last refusal", answer(facts.lastRefusal)), ("free space", space(facts.freeSpace)),
            ("clock", facts.clockSkew.map(clock) ?? "not compared"),
        ]
    }

    private func row(_ profile: ServerFacts.Profile) -> (String, String) {
        let secret =
            profile.secretExpiresAt.map { "client_secret until \($0.rfc3339)" }
            ?? "no client_secret"
        return (
            profile.name.isEmpty ? "client" : "profile \(profile.name)",
            "\(profile.clientID), team \(profile.teamID), "
                + "\(profile.keyID.map { "key \($0)" } ?? "no key here"), \(secret)"
        )
    }

    private func keys(_ facts: ServerFacts) -> String {
        facts.isKeySetFixed
            ? "from a file"
            : facts.keySetAge.map { "\(Duration.seconds($0).words(units: 1)) old" }
                ?? "not fetched"
    }

    private func answer(_ answer: ServerFacts.Answer?) -> String {
        answer.map {
            "\($0.endpoint): \($0.outcome)\($0.profile.isEmpty ? "" : " (\($0.profile))"), "
                + $0.at.rfc3339
        } ?? "none"
    }

    private func space(_ bytes: Int?) -> String {
        bytes.map { "\($0 >> 20) MiB" } ?? "not known here"
    }

    private func clock(_ seconds: Int) -> String {
        seconds == 0 ? "in sync with Apple" : Duration.seconds(seconds).clockDifference
    }

    private var work: [(String, String)] {
        guard let counts = status.survey.counts else { return [] }
        return [
            ("events", Self.words(counts.inbox, counts.oldestPendingEvent)),
            ("revocations", Self.words(counts.revocations, counts.oldestPendingRevocation)),
        ]
    }

    private static func words<State: RawRepresentable<String>>(
        _ states: [State: Int], _ age: Duration?
    ) -> String {
        let found = states.filter { $0.value > 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.value) \($0.key.rawValue)" }
        let waiting = age.map { ", the oldest has waited for \($0.words(units: 1))" } ?? ""
        return found.isEmpty ? "none" : found.joined(separator: ", ") + waiting
    }

    private var tokens: [(String, String)] {
        // Counted by a running server once a minute.
        let note = status.survey.counts?.tokensCountedAt.map {
            " (counted \(max(status.at - $0, .zero).words(units: 1)) ago)"
        }
        let clients = (status.survey.counts?.tokens ?? [:])
            .sorted { $0.key.rawValue < $1.key.rawValue }
            .map { ("tokens of \($0.key)", Self.words($0.value, nil) + (note ?? "")) }
        let versions =
            "vault \(status.survey.vaultVersion.map { "\($0)" } ?? "-"), siwa-server "
            + (status.survey.serverVersion.map { "\($0)" } ?? "-")
        return clients + [
            ("last validation", status.lastValidation),
            ("validation", ServerStatus.words(status.worst?.facts?.validation)),
            ("last vault check", status.lastVaultCheck),
            ("tables", versions),
        ]
    }
}
