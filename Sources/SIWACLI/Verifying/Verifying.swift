internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// The common part of commands that verify tokens: keys, rules and report.
struct Verifying: Sendable {
    let session: Session
    private let options: VerificationOptions
    /// The accepted audiences.
    let audiences: [String]

    init(
        _ global: GlobalOptions, _ options: VerificationOptions, vault: VaultArgument? = nil,
        in world: World
    ) throws {
        self.options = options
        session = try Session(global, audiences: options.audiences, vault: vault, in: world)
        audiences = try session.settings.audiences()
        guard !options.issuers.contains("") else {
            throw UsageError.Problem.misuse(
                "--issuer is empty",
                hint: "check the variable that should supply it, or omit the option")
        }
    }

    /// The time as of which tokens are verified.
    var now: NumericDate { options.time?.date ?? session.world.clocks.now() }

    func verifier(for token: CompactJWS) async throws -> TokenVerifier {
        rules(by: try await keySet(for: token))
    }

    /// The verifier with a key set; without one, no token is valid.
    ///
    /// - Parameter client: the only accepted audience; nil for those of the settings.
    func rules(by keySet: KeySet?, for client: ClientID? = nil) -> TokenVerifier {
        TokenVerifier(
            keySet: keySet, audiences: client.map { [$0.rawValue] } ?? audiences,
            issuers: options.issuers.isEmpty ? [TokenVerifier.appleIssuer] : options.issuers,
            leeway: options.leeway?.duration ?? .seconds(60))
    }

    private func keySet(for token: CompactJWS) async throws -> KeySet? {
        if let given = try givenKeySet() { return given }
        return try await appleKeys().keySet(for: token)
    }

    /// The set of --jwks; nil if it is not given.
    func givenKeySet() throws -> KeySet? {
        try requireOpenSSL()
        return try options.keySetFile.map(readKeySet)
    }

    /// Whether keys come from the cache alone.
    var isOffline: Bool { options.isOffline }

    /// Apple's keys, with the command's time limit for fetching them.
    func appleKeys() throws -> AppleKeySource {
        AppleKeySource(try AppleConnection(session), isOffline: options.isOffline)
    }

    private func readKeySet(_ path: String) throws -> KeySet {
        let file: LocalFile
        do {
            file = try session.world.files.read(path)
        } catch {
            throw SettingsError(
                "--jwks: \(error)",
                hints: error.advice(or: "give a file that contains Apple's JWK Set"))
        }
        try session.examine(
            FileWarning("the key set", path, file.status, isSecret: false, in: session.world),
            .configuration)
        let body = file.contents.revealed()
        guard let keySet = KeySet(body) else {
            let ignored = KeySet.ignored(in: body)
            let found = ignored.isEmpty ? "" : "; it has \(ignored.listed)"
            throw SettingsError(
                "--jwks: '\(path)' is not a JWK Set with an RSA key of 2048 bits or more\(found)",
                hints: ["Apple's is at https://appleid.apple.com/auth/keys"])
        }
        session.console.note(keySet.ignored)
        return keySet
    }
}

extension AppleKeySource {
    /// The set for one token; nil, without a fetch, for a header that Apple does not write.
    func keySet(for token: CompactJWS) async throws -> KeySet? {
        guard let keyID = token.verificationKeyID else { return nil }
        return try await keySet(holding: keyID)
    }
}
