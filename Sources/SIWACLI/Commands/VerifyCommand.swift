internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// `siwa verify`: checks that an identity token is Apple's and for this client.
struct VerifyCommand: Command {
    static let name = "verify"
    static let abstract = "Verify an identity token."
    static let discussion = """
        Runs every check and prints valid, checks, header and claims. The exit code is 1 unless the \
        token is valid; the claims of an invalid token are printed too, but must not be trusted. \
        For a text that is not a JWT only valid and checks are printed. --print prints no other \
        member of an invalid token.

        Claims are normalized: flags are booleans, and each time has a second member in RFC 3339, \
        such as exp_rfc3339. The token may have the nonce itself, or its SHA-256 in hexadecimal or \
        base64url.

        No private key and no Team ID are needed, and with --jwks or --offline no network.
        """
    static let examples = [
        Example(
            "siwa verify - --nonce @nonce --print valid < token.jwt",
            "Check that a token belongs to a sign-in."),
        Example(
            "siwa verify @token.jwt --jwks keys.json --at 2019-06-05T04:40:00Z",
            "Verify an old token with the keys of its time."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand("TOKEN", \.$token, help: "The identity token."),
            .option(
                "nonce", \.nonce, value: "NONCE",
                help: "Check that the token carries this nonce, raw or hashed."),
            .option(
                "code", \.code, value: "CODE",
                help: "Check that the token came with this authorization code (c_hash)."),
            .option(
                "access-token", \.accessToken, value: "TOKEN",
                help: "Check that the token came with this access token (at_hash)."),
        ] + VerificationOptions.parameters(at: \.verification)
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var verification = VerificationOptions()
    @Required var token: SecretArgument
    var nonce: SecretArgument?
    var code: SecretArgument?
    var accessToken: SecretArgument?

    func run(in world: World) async throws {
        let verifying = try Verifying(global, verification, in: world)
        let binding = try binding(in: verifying.session)
        try await verifying.report(verify(verifying, binding), of: .identityToken) {
            $0.identityMembers
        }
    }

    private func verify(
        _ verifying: Verifying, _ binding: TokenBinding
    ) async throws -> IdentityTokenVerification {
        let token: CompactJWS
        do {
            token = try CompactJWS(verifying.session.secret(self.token, "TOKEN").bytes.revealed())
        } catch let error as CompactJWSError {
            return IdentityTokenVerification(error)
        } catch let error as UnreadableSecret where error.cause.isTooLarge {
            return IdentityTokenVerification(impossible: .format, error.cause.reason)
        }
        return try await verifying.verifier(for: token)
            .verify(identityToken: token, boundTo: binding, at: verifying.now)
    }

    private func binding(in session: Session) throws -> TokenBinding {
        let code = try code.map { try session.opaqueToken($0, "--code") }
        let accessToken = try accessToken.map { try session.opaqueToken($0, "--access-token") }
        return TokenBinding(
            nonce: try nonce.map { try session.secret($0, "--nonce") },
            code: code.map(AuthorizationCode.init), accessToken: accessToken.map(AccessToken.init))
    }
}
