internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import Synchronization

extension Route {
    /// `POST /v1/verify`
    static let verify = Route(
        .post, "/v1/verify", scope: .token(.verify),
        "Verifies an identity token. The status is 200 even if the token is not valid.",
        body: .object(
            [
                ("id_token", .text("The identity token.")),
                ("nonce", .text("The expected nonce.")),
                ("code", .opaqueToken("The authorization code that was issued with it.")),
                ("access_token", .opaqueToken("The access token that was issued with it.")),
                ("audience", .text("The only client to accept.")),
            ], required: ["id_token"]),
        responses: [
            RouteResponse(
                200, "The results of the checks.",
                .object(
                    [
                        ("valid", .boolean()), ("checks", .array(of: .check)),
                        ("header", .object([], isOpen: true)),
                        ("claims", .object([], isOpen: true)),
                        ("email_kind", .string()),
                    ], required: ["valid", "checks"]))
        ],
        atOnce: { request, context throws(Problem) in
            context.verifyAtOnce(try VerifyInput(request, context)).map {
                .response(.json(context.written($0)))
            }
        },
        handle: { request, context throws(Problem) in
            .json(
                context.written(
                    try await context.verify(try VerifyInput(request, context))))
        })
}

/// A request to verify a token.
private struct VerifyInput {
    let token: Result<CompactJWS, CompactJWSError>
    let binding: TokenBinding
    /// The clients to accept.
    let audiences: [String]

    init(_ request: RouteRequest, _ context: ServerContext) throws(Problem) {
        let members = RequestMembers(request)
        guard let text = try members.text("id_token") else {
            throw .malformed("'id_token' is missing")
        }
        do throws(CompactJWSError) {
            token = .success(try context.tokenReader.read(Array(text.utf8)))
        } catch {
            token = .failure(error)
        }
        binding = TokenBinding(
            nonce: try members.text("nonce").map { SecretText($0) },
            code: try members.opaqueToken("code").map { AuthorizationCode($0) },
            accessToken: try members.opaqueToken("access_token").map { AccessToken($0) })
        audiences =
            try members.text("audience").map { [$0] } ?? context.clients.current.audiences
    }
}

extension ServerContext {
    /// The result in the format of `siwa verify`.
    fileprivate func written(_ verification: IdentityTokenVerification) -> [UInt8] {
        if let bytes = verdicts.withLockIfAvailable({ $0.bytes(of: verification) }) {
            return bytes
        }
        var writer = VerdictWriter()
        return writer.bytes(of: verification)
    }

    fileprivate func verifyAtOnce(_ input: VerifyInput) -> IdentityTokenVerification? {
        switch input.token {
        case .failure(let error): IdentityTokenVerification(error)
        case .success(let token):
            verifyAtOnce(token, boundTo: input.binding, for: input.audiences)
        }
    }

    fileprivate func verify(
        _ input: VerifyInput
    ) async throws(Problem) -> IdentityTokenVerification {
        switch input.token {
        case .failure(let error): IdentityTokenVerification(error)
        case .success(let token):
            try await verify(token, boundTo: input.binding, for: input.audiences)
        }
    }

    /// Makes every check of an identity token whose key is known; nil for another, or if Apple has to
    /// be asked for its time first.
    private func verifyAtOnce(
        _ token: CompactJWS, boundTo binding: TokenBinding, for audiences: [String]
    ) -> IdentityTokenVerification? {
        guard let keySet = token.verificationKeyID.flatMap(keys.known(holding:)) else { return nil }
        let verifier = TokenVerifier(keySet: keySet, audiences: audiences)
        return clock.judgeAtOnce {
            verifier.verify(identityToken: token, boundTo: binding, at: $0)
        }
    }

    /// Makes every check of an identity token that could not be judged at once.
    ///
    /// - Throws: ``Problem`` if Apple's keys are needed and cannot be fetched.
    func verify(
        _ token: CompactJWS, boundTo binding: TokenBinding, for audiences: [String]
    ) async throws(Problem) -> IdentityTokenVerification {
        let keySet = await keys.keySet(for: token)
        // A header that Apple never writes is invalid without a key.
        if keySet == nil, token.verificationKeyID != nil { throw Problem(.keysUnavailable) }
        let verifier = TokenVerifier(keySet: keySet, audiences: audiences)
        return await clock.judge(askingAs: clients.current.asking) {
            verifier.verify(identityToken: token, boundTo: binding, at: $0)
        }
    }
}

extension Diagnosis {
    /// Apple's keys cannot be fetched, or were fetched a moment ago and lack the key.
    fileprivate static let keysUnavailable = Diagnosis(
        .keysUnavailable,
        "the key of the token is unknown, and Apple's keys cannot be fetched again now",
        hints: ["repeat the request later"], exitCode: .temporary)
}
