internal import CommandTable
internal import SIWACrypto
internal import SignInWithApple

/// `siwa inspect`: what is this, what is in it, what is wrong with it?
struct InspectCommand: Command {
    static let name = "inspect"
    static let abstract = "Decode a token without trusting it, and say what is wrong with it."
    static let discussion = """
        Says what TOKEN is: a client_secret, an identity token, a notification, or something that \
        is no JWT, such as a .p8, a code or a refresh token. Nothing is verified: siwa verify and \
        siwa notification do that. A file or standard input is read whole.

        What is configured is compared with: a client_secret's team, client, Key ID and \
        signature, and whom an identity token is for. Nothing needs to be configured.

        Findings alone do not change the exit code. With --expires-within it is 1 when the token \
        expires sooner, has expired, or has no expiry.
        """
    static let examples = [
        Example("siwa inspect @apple.secret", "Show what a client_secret says, and its faults."),
        Example(
            "siwa inspect @apple.secret --expires-within 14d --quiet > /dev/null",
            "Let monitoring notice a secret that is about to expire."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand("TOKEN", \.$token, help: "The token, or whatever it is."),
            .option(
                "expires-within", \.expiresWithin, value: "DURATION",
                help: "Exit 1 when less than this is left."),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var token: SecretArgument
    var expiresWithin: DurationText?

    func run(in world: World) async throws {
        let session = try Session(TypedSettings(global: global), in: world)
        let text = try session.secret(token, "TOKEN", isWhole: true)
        let now = world.clocks.now()
        let inspection = Inspection(of: text, expecting: expected(session), at: now)
        try session.report(Report(.object(members(of: inspection, at: now))))
        if let expiresWithin {
            try Self.check(inspection, expiresWithin, at: now)
        }
    }

    /// What is configured, as far as it is.
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
            expected.key = KnownKey(source.value.description, key.privateKey.publicKey)
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

    /// Whose the address in an identity token is.
    private static func emailKind(_ inspection: Inspection) -> [JSON.Member] {
        (inspection.token?.emailKind).map { [.init("email_kind", .string($0.rawValue))] } ?? []
    }

    /// Of a private key, only what its public half says.
    private static func key(_ publicKey: P256PublicKey?) -> [JSON.Member] {
        guard let publicKey else { return [] }
        return [
            .init("curve", "P-256"),
            .init("public_key_fingerprint", .string(publicKey.fingerprint)),
        ]
    }

    private static func check(
        _ inspection: Inspection, _ limit: DurationText, at now: NumericDate
    ) throws(NegativeAnswer) {
        guard let expiresAt = inspection.expiresAt else {
            throw NegativeAnswer(
                "no_expiry", "it has no expiry that could be measured",
                hints: ["look at 'kind' and 'findings' of the result"])
        }
        guard expiresAt <= now || expiresAt - now < limit.duration else { return }
        throw NegativeAnswer(
            expiresAt <= now ? "expired" : "expires_soon",
            expiresAt <= now
                ? "it expired at \(expiresAt.rfc3339)"
                : "it expires at \(expiresAt.rfc3339), within \(limit.argumentDescription)",
            hints: [
                inspection.recognition.kind == .clientSecret
                    ? "renew it: 'siwa secret --out FILE --renew-within DURATION' does so by cron"
                    : "siwa cannot renew it: whoever issued it can"
            ])
    }
}

extension P256PublicKey {
    /// The first 12 hexadecimal digits of the SHA-256 of its SubjectPublicKeyInfo.
    var fingerprint: String {
        (try? derRepresentation()).map { SecretText(SecretBytes($0)).description } ?? "unknown"
    }
}
