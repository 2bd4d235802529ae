internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWADiagnosis
internal import SIWAJOSE
internal import SIWALifecycle

/// `siwa inspect`: identifies and decodes a token, and finds its faults.
struct InspectCommand: Command {
    static let name = "inspect"
    static let abstract = "Decode a token without verifying it, and find its faults."
    static let discussion = """
        Identifies TOKEN: a client_secret, an identity token, a notification, or a text that is not \
        a JWT, such as a .p8, a code or a refresh token. Nothing is verified; use 'siwa verify' and \
        'siwa notification' for that. Files and standard input are read completely.

        Settings are optional. If they exist, a client_secret is compared with the team, client, \
        Key ID and key, and an identity token with the accepted audiences.

        Findings do not change the exit code. With --expires-within the exit code is 1 if the token \
        expires sooner, has expired, or has no expiry time.
        """
    static let examples = [
        Example(
            "siwa inspect @apple.secret", "Show the contents and the faults of a client_secret."),
        Example(
            "siwa inspect @apple.secret --expires-within 14d --quiet > /dev/null",
            "Monitor a secret that may expire soon."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand("TOKEN", \.$token, help: "The token, or another text."),
            .option(
                "expires-within", \.expiresWithin, value: "DURATION",
                help: "Exit 1 if the token expires within this time."),
            MetricsArgument.option(\.metrics),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var token: SecretArgument
    var expiresWithin: DurationArgument?
    var metrics: MetricsArgument?

    func run(in world: World) async throws {
        try world.metrics.begin(metrics, global, in: world)
        let session = try Session(global, in: world)
        let text = try session.secret(token, "TOKEN", isWhole: true)
        let now = world.clocks.now()
        let inspection = Inspection(of: text, expecting: expected(session), at: now)
        if inspection.recognition.kind == .clientSecret, let expiresAt = inspection.expiresAt {
            session.noteClientSecret(expiringAt: expiresAt)
        }
        try session.report(Report(.object(members(of: inspection, at: now))))
        if let expiresWithin {
            try Self.check(inspection, expiresWithin, at: now)
        }
    }

    /// The expected values, as far as the settings have them.
    private func expected(_ session: Session) -> ExpectedClient {
        let settings = session.settings
        var expected = ExpectedClient(
            teamID: settings.text(.teamID).map { TeamID(unchecked: $0.value) },
            clientID: settings.text(.clientID).map { ClientID(unchecked: $0.value) },
            audiences: settings.audiencesSetting?.value,
            keyID: settings.text(.keyID).map { KeyID(unchecked: $0.value) })
        expected.otherClients = settings.otherClients
        do {
            guard let source = try settings.keySource(in: session.world) else { return expected }
            let key = try settings.loadKey(in: session.world)
            expected.key = KnownKey(source.value.description, key.publicKey)
            expected.keyID = expected.keyID ?? source.value.keyIDInName
        } catch {
            session.console.warn("signatures are not compared: \(error.message)")
        }
        return expected
    }

    private func members(of inspection: Inspection, at now: NumericDate) -> [JSON.Member] {
        let expiresAt = inspection.expiresAt
        let left = expiresAt.map { Int(($0 - now).components.seconds) }
        return [
            .init("kind", .string(inspection.recognition.kind.rawValue)),
            .init("description", .string(inspection.recognition.name)),
            .init("verified", false),
            .init("header", inspection.token?.header ?? .null),
            .init("claims", inspection.token?.payload.normalizedClaims ?? .null),
        ] + Self.emailKind(inspection) + [
            .init("expires_at", expiresAt.map { .string($0.rfc3339) } ?? .null),
            .init("expires_in", left.map { .integer($0) } ?? .null),
        ] + Self.key(inspection.recognition.publicKey) + [
            .init("findings", .array(inspection.findings.map(\.json)))
        ]
    }

    /// The kind of the address in an identity token.
    private static func emailKind(_ inspection: Inspection) -> [JSON.Member] {
        (inspection.token?.emailKind).map { [.init("email_kind", .string($0.rawValue))] } ?? []
    }

    /// The members about the public half of a private key.
    private static func key(_ publicKey: P256PublicKey?) -> [JSON.Member] {
        guard let publicKey else { return [] }
        return [
            .init("curve", "P-256"),
            .init("public_key_fingerprint", .string(publicKey.fingerprint)),
        ]
    }

    private static func check(
        _ inspection: Inspection, _ limit: DurationArgument, at now: NumericDate
    ) throws(Diagnosis) {
        guard let expiresAt = inspection.expiresAt else {
            throw Diagnosis.negative(
                .noExpiry, "it has no expiry time",
                hints: ["look at 'kind' and 'findings' of the result"])
        }
        guard expiresAt <= now || expiresAt - now < limit.duration else { return }
        throw Diagnosis.negative(
            expiresAt <= now ? .expired : .expiresSoon,
            expiresAt <= now
                ? "it expired at \(expiresAt.rfc3339)"
                : "it expires at \(expiresAt.rfc3339), within \(limit.argumentDescription)",
            hints: [
                inspection.recognition.kind == .clientSecret
                    ? "renew it: 'siwa secret --out FILE --renew-within DURATION' does so by cron"
                    : "siwa cannot renew it: ask its issuer"
            ])
    }
}
