internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// `siwa doctor`: finds out why Apple refuses a client.
struct DoctorCommand: Command {
    static let name = "doctor"
    static let abstract = "Find out why Apple refuses a client, and what to do about it."
    static let discussion = """
        Checks what can be checked offline: settings, key, file names, identifiers, other \
        profiles, and every claim of a client_secret: of one that it mints, and of one that was \
        minted elsewhere (--secret, or the settings). If the settings name a vault, it is opened. \
        Invalid settings do not stop it.

        With --online it also checks the connection to Apple and the clock, and requests a team \
        token, which tests the secret and changes nothing: a token proves that the secret is good, \
        invalid_client that it is bad, any other response neither. If Apple refuses, the other \
        keys, Key IDs, teams and clients on this machine are tried, at most 8, until Apple accepts \
        one.

        With --online --report FILE it sends about twenty more requests, which use up and change \
        nothing, and writes Apple's responses to FILE, without secrets, identifiers and addresses. \
        Each assumption of siwa-emulator is marked confirmed, contradicted or untouched. Please \
        send the file in, to make the emulator more accurate. FILE is replaced only if it is empty \
        or holds such a report (otherwise exit 2, and nothing is sent).

        With --endpoint URL it checks instead whether Apple can post notifications to URL: an \
        absolute https URL, TLS 1.2 or newer with forward secrecy, a complete certificate chain \
        that does not expire within 14 days, no redirect, and a forged notification that is refused. With --emulator it also posts a \
        notification that siwa-emulator signs, to an endpoint that takes its keys from there: the \
        endpoint stores it as a genuine one.

        Exits 1 if a check failed. The most likely cause is printed last.
        """
    static let examples = [
        Example("siwa doctor", "Check settings, key and secret offline."),
        Example("siwa doctor --online", "Test them with Apple too."),
        Example(
            "siwa doctor --online --secret @apple.secret",
            "Check a secret that other software minted, and test it with Apple."),
        Example(
            "siwa doctor --endpoint https://app.example.com/apple/notifications",
            "Check whether Apple can post notifications there."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .flag("online", \.isOnline, help: "Check the network, and test the secret with Apple."),
            .option(
                "secret", \.secret, value: "SECRET",
                help: "Check this client_secret, which any software may have minted."),
            .option(
                "report", \.reportFile, value: "FILE",
                help: "With --online: write Apple's responses to harmless requests to FILE.",
                completion: .file),
            .option(
                "endpoint", \.endpoint, value: "URL",
                help: "Check whether Apple can post notifications to this URL."),
            .option(
                "emulator", \.emulator, value: "URL",
                help: "With --endpoint: post a notification that this emulator signs."),
            WideFlag.flag(\.isWide),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var isOnline = false
    var secret: SecretArgument?
    var reportFile: String?
    var endpoint: String?
    var emulator: String?
    var isWide = false

    func run(in world: World) async throws {
        try checkUsage()
        if let reportFile { try world.files.checkReplacement(reportFile, .report) }
        let context = try DoctorContext(global, given: secret, in: world)
        try context.session.examineOutput(reportFile)
        if let endpoint { return try await examine(EndpointURL(endpoint), context) }
        let (online, answer) = isOnline ? await ask(about: context) : ([], .notAsked)
        let vault = VaultCheck(context).lines
        let report = DoctorReport(
            offline: await context.offlineChecks() + vault
                + ServerCheck(context, after: vault).lines, online: online,
            answer: answer
        ).shown(in: world.words)
        if let reportFile { try await writeReport(to: reportFile, context) }
        try context.session.report(report.rendered(on: world.terminal.widened(isWide)))
        if let failure = report.failure { throw failure }
    }

    private func checkUsage() throws(UsageError.Problem) {
        guard reportFile == nil || isOnline else {
            throw .misuse("--report needs --online", hint: "add --online")
        }
        guard emulator == nil || endpoint != nil else {
            throw .misuse("--emulator needs --endpoint", hint: "add --endpoint URL")
        }
        guard endpoint == nil || !isOnline && secret == nil else {
            throw .misuse(
                "--endpoint cannot be combined with --online or --secret",
                hint: "run 'siwa doctor' twice")
        }
    }

    /// Examines a notification endpoint, with the client of the settings if it is known.
    private func examine(_ endpoint: EndpointURL, _ context: DoctorContext) async throws {
        let signer = try emulator.map { text throws(UsageError.Problem) in
            do throws(BaseURLError) {
                return try BaseURL(validating: text)
            } catch {
                throw .misuse(
                    "--emulator \(error)", hint: "give its URL, such as http://127.0.0.1:9500")
            }
        }
        var lines = context.configurationFault.map { [CheckLine("configuration", $0)] } ?? []
        var authorityFile: String?
        do throws(SettingsError) {
            let network = try AppleConnection(context.session)
            authorityFile = network.transportSettings.authorityFile
            lines += await EndpointCheck(endpoint, emulator: signer, context, network).lines
        } catch {
            lines.append(CheckLine("network", error))
        }
        let report = DoctorReport(
            lines, otherwise: EndpointCheck.passed(lines, trusting: authorityFile)
        ).shown(in: context.world.words)
        try context.session.report(
            report.rendered(
                on: context.world.terminal.widened(isWide)))
        if let failure = report.failure { throw failure }
    }

    private func writeReport(to file: String, _ context: DoctorContext) async throws {
        let report: EvidenceReport
        do {
            report = try await EvidenceReport(context, try AppleConnection(context.session))
        } catch let error as SettingsError {
            return context.session.console.warn("no report: \(error.message)")
        }
        try context.world.files.replace(
            SecretBytes((report.json.indentedText + "\n").utf8), file, .report)
        let counts = EvidenceFact.Verdict.allCases.map { "\(report.count($0)) \($0.rawValue)" }
        context.session.console.note(
            "\(context.world.named(file)): of the emulator's assumptions, \(counts.joined(separator: ", "))"
        )
    }

    private func ask(about context: DoctorContext) async -> ([CheckLine], ProbeCheck.Answer) {
        let network: AppleConnection
        do {
            network = try AppleConnection(context.session)
        } catch {
            return ([CheckLine("network", error)], .notAsked)
        }
        let way = await NetworkCheck(context, network)
        guard way.isReachable else {
            return (way.lines + [CheckLine("probe", .skipped, "Apple cannot be reached")], .outage)
        }
        let probe = await ProbeCheck(context, network)
        return (way.lines + probe.lines, probe.answer)
    }
}
