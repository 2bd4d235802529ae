internal import CommandTable
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
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var isOnline = false
    var secret: SecretArgument?

    func run(in world: World) async throws {
        let patient = try Patient(global, given: secret, in: world)
        let offline =
            SettingsCheckup(patient).lines + KeyCheckup(patient).lines
            + SecretCheckup(patient).lines
        let (online, isAccepted) = isOnline ? await ask(about: patient) : ([], false)
        let verdict = Verdict(offline: offline, online: online, isAccepted: isAccepted)
        try patient.session.report(verdict.report(on: world.terminal))
        guard verdict.failed.isEmpty else {
            let names = verdict.failed.map(\.name).unique.joined(separator: ", ")
            throw NegativeAnswer(
                "checks_failed",
                "\(verdict.failed.count) of \(verdict.lines.count) checks failed: \(names)",
                hints: ["\(verdict.cause.seen): \(verdict.cause.advice)"])
        }
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
