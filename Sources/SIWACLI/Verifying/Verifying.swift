internal import CommandTable
internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// What the commands that verify share: by which keys and rules, and how they answer.
struct Verifying: Sendable {
    let session: Session
    /// The moment as of which to judge.
    let now: NumericDate
    private let options: VerificationOptions
    private let audiences: [String]

    init(_ global: GlobalOptions, _ options: VerificationOptions, in world: World) throws {
        self.options = options
        session = try Session(
            TypedSettings(global: global, audiences: options.audiences), in: world)
        audiences = try session.settings.audiences()
        guard !options.issuers.contains("") else {
            throw UsageError.Problem.misuse(
                "--issuer is empty", hint: "check what was to fill it, or leave it out")
        }
        now = options.moment?.date ?? world.clocks.now()
    }

    /// The rules for one token.
    func verifier(for token: CompactJWS) async throws -> TokenVerifier {
        TokenVerifier(
            keySet: try await keySet(for: token), audiences: audiences,
            issuers: options.issuers.isEmpty ? [TokenVerifier.appleIssuer] : options.issuers,
            leeway: options.leeway?.duration ?? .seconds(60))
    }

    private func keySet(for token: CompactJWS) async throws -> KeySet? {
        try requireOpenSSL()
        if let path = options.keySetFile { return try readKeySet(path) }
        return try await AppleKeys(Network(session), isOffline: options.isOffline)
            .keySet(for: token)
    }

    private func readKeySet(_ path: String) throws(SettingsError) -> KeySet {
        let body: [UInt8]
        do {
            body = try session.world.files.read(path).contents.revealed()
        } catch {
            throw SettingsError(
                "--jwks: \(error)", hints: ["name a file that holds Apple's JWK Set"])
        }
        guard let keySet = KeySet(body) else {
            let ignored = KeySet.ignored(in: body)
            let found = ignored.isEmpty ? "" : "; it has \(ignored.listed)"
            throw SettingsError(
                "--jwks: '\(path)' is no JWK Set with an RSA key of 2048 bits or more\(found)",
                hints: ["Apple's is at https://appleid.apple.com/auth/keys"])
        }
        session.console.note(keySet.ignored)
        return keySet
    }
}

extension AppleKeys {
    /// The set for one token; nil, and nothing fetched, for a header that Apple does not write.
    func keySet(for token: CompactJWS) async throws -> KeySet? {
        guard let keyID = token.verificationKeyID else { return nil }
        return try await keySet(holding: keyID)
    }
}
