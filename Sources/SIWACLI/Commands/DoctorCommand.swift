internal import CommandTable
internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// `siwa doctor`: why does Apple say no?
struct DoctorCommand: Command {
    static let name = "doctor"
    static let abstract = "Find out why Apple refuses a client, and what to do about it."
    static let discussion = """
        Looks at everything that can be wrong without asking anybody: settings, key, file names, \
        identifiers, other profiles, and a client_secret claim by claim: one that it mints, and \
        one that was minted elsewhere, of --secret or of the settings. Broken settings stop nothing.

        With --online it also looks at the way to Apple, at the clock, and asks Apple for a team \
        token, which tests the secret and spends nothing: an answer proves the secret good, \
        invalid_client proves it bad, anything else proves neither. When Apple refuses, the other \
        keys, Key IDs, teams and clients of this machine are tried, at most 8, and the one that \
        Apple accepts is named.

        With --online --report FILE it sends some twenty more requests, none of which spends or \
        changes anything, and writes to FILE what Apple answered: without secrets, identifiers \
        and addresses, each assumption of siwa-emulator that it touches marked confirmed, \
        contradicted or untouched. Send it in to make the emulator more faithful.

        Exits 1 when a check failed; the likeliest cause comes first.
        """
    static let examples = [
        Example("siwa doctor", "Look at settings, key and secret; nothing is sent."),
        Example("siwa doctor --online", "Ask Apple too."),
        Example(
            "siwa doctor --online --secret @apple.secret",
            "Examine a secret that other software minted, and ask Apple about it."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .flag("online", \.isOnline, help: "Look at the network and ask Apple as well."),
            .option(
                "secret", \.secret, value: "SECRET",
                help: "Examine this client_secret, whoever minted it."),
            .option(
                "report", \.reportFile, value: "FILE",
                help: "With --online: write what Apple answers to harmless requests to FILE.",
                completion: .file),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var isOnline = false
    var secret: SecretArgument?
    var reportFile: String?

    func run(in world: World) async throws {
        guard reportFile == nil || isOnline else {
            throw UsageError.Problem.misuse(
                "--report needs --online: it tells what Apple answers", hint: "add --online")
        }
        let patient = try Patient(global, given: secret, in: world)
        let offline =
            SettingsCheckup(patient).lines + KeyCheckup(patient).lines
            + SecretCheckup(patient).lines
        let (online, isAccepted) = isOnline ? await ask(about: patient) : ([], false)
        let verdict = Verdict(offline: offline, online: online, isAccepted: isAccepted)
        if let reportFile { try await writeReport(to: reportFile, patient) }
        try patient.session.report(verdict.report(on: world.terminal))
        guard verdict.failed.isEmpty else {
            let names = verdict.failed.map(\.name).unique.joined(separator: ", ")
            throw NegativeAnswer(
                "checks_failed",
                "\(verdict.failed.count) of \(verdict.lines.count) checks failed: \(names)",
                hints: ["\(verdict.cause.seen): \(verdict.cause.advice)"])
        }
    }

    private func writeReport(to file: String, _ patient: Patient) async throws {
        let report: EvidenceReport
        do {
            report = try await EvidenceReport(patient, try Network(patient.session))
        } catch let error as SettingsError {
            return patient.session.console.warn("no report: \(error.message)")
        }
        try patient.world.files.write(
            SecretBytes((report.json.indentedText + "\n").utf8), file, .followed)
        let counts = EvidenceFact.Verdict.allCases.map { "\(report.count($0)) \($0.rawValue)" }
        patient.session.console.note(
            "\(file): of the emulator's assumptions, \(counts.joined(separator: ", "))")
    }

    private func ask(about patient: Patient) async -> ([CheckLine], isAccepted: Bool) {
        let network: Network
        do {
            network = try Network(patient.session)
        } catch {
            return ([CheckLine("network", error)], false)
        }
        let way = await NetworkCheckup(patient, network)
        guard way.isReachable else {
            return (way.lines + [CheckLine("probe", .skipped, "Apple cannot be reached")], false)
        }
        let probe = await ProbeCheckup(patient, network)
        return (way.lines + probe.lines, probe.isAccepted)
    }
}
