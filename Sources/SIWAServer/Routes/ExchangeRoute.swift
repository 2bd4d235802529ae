internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

extension Route {
    /// `POST /v1/exchange`
    static let exchange = Route(
        .post, "/v1/exchange", scope: .token(.exchange),
        "Exchanges an authorization code for tokens. A code is sent to Apple at most once.",
        body: .object(
            [
                ("code", .opaqueToken("The authorization code.")),
                ("client_id", .clientID("The client that the code was issued to.")),
                ("id_token", .text("The identity token of the sign-in; determines the client.")),
                ("redirect_uri", .text("The redirect URI of the sign-in.")),
                ("nonce", .text("The nonce of the sign-in.")),
                ("code_verifier", .codeVerifier("The verifier of a code_challenge.")),
                (
                    "store",
                    .boolean("Whether to store the refresh token in the vault; true unless given.")
                ),
                (
                    "reveal",
                    .boolean("Whether to show a stored refresh token; false unless given.")
                ),
            ], required: ["code"]),
        responses: [
            RouteResponse(200, "The tokens.", .exchanged),
            RouteResponse(409, "The code was sent before, and its answer is no longer stored."),
            RouteResponse(422, "Apple refused the code, or Apple's identity token is not valid."),
            RouteResponse(429, "Apple received too many requests."),
            RouteResponse(502, "Apple refused the client."),
        ], isLogged: true
    ) { request, context throws(Problem) in
        let isRevealing = try RequestMembers(request).flag("reveal", standard: false)
        let input = try await ExchangeInput(request, context)
        if isRevealing || !input.isStoring, !request.scopes.contains(.reveal) {
            throw Problem(
                .forbidden, .forbidden,
                "the token lacks the scope 'reveal', which shows refresh tokens",
                hints: ["omit reveal, and store: false"])
        }
        return try await context.call { () async throws(Diagnosis) in
            request.subject.note(clientID: input.client.clientID)
            let answer = try await context.exchanges.exchange(input)
            request.subject.note(
                userID: answer.userID, fingerprint: answer.refreshToken?.text.fingerprint,
                requestID: answer.requestID)
            return .json(
                try answer.body(
                    isRevealing: isRevealing, mayReveal: request.scopes.contains(.reveal)))
        }
    }
}

extension ExchangeInput {
    /// Reads the input, and checks its identity token.
    fileprivate init(
        _ request: RouteRequest, _ context: ServerContext
    ) async throws(Problem) {
        let members = RequestMembers(request)
        guard let code = try members.opaqueToken("code") else {
            throw .malformed("'code' is missing")
        }
        let isStoring = try members.flag("store", standard: true)
        let redirectURI = try members.text("redirect_uri")
        let nonce = try members.text("nonce").map { SecretText($0) }
        let verifier = try members.codeVerifier("code_verifier")
        let given = try members.clientID("client_id")
        var named: ClientID?
        if let token = try members.identityToken("id_token") {
            named = try await context.client(of: token, for: AuthorizationCode(code))
            if let given, given != named {
                throw .malformed("'client_id' is not the client of 'id_token'")
            }
        }
        let clients = context.clients.current
        let client = try await context.call { () throws(Diagnosis) in
            try clients.client(named ?? given)
        }
        self.init(
            AuthorizationCode(code), for: client, isClientGiven: (named ?? given) != nil,
            redirectURI: redirectURI, nonce: nonce, verifier: verifier, isStoring: isStoring)
    }
}

extension ServerContext {
    /// The client that an identity token was issued to, after all checks except that of its expiry.
    fileprivate func client(
        of token: CompactJWS, for code: AuthorizationCode
    ) async throws(Problem) -> ClientID {
        let clients = clients.current
        let verification = try await verify(
            token, boundTo: TokenBinding(code: code, acceptsMissingHashes: true),
            for: clients.audiences)
        let failures = verification.failures.filter { $0.subject != .expiry }
        guard failures.isEmpty else {
            throw .malformed(
                "'id_token': \(VerifiedSubject.identityToken.refusal(failures, hints: []).message)")
        }
        guard let audience = token.claims[.aud]?.string,
            let client = clients[ClientID(unchecked: audience)]
        else { throw .malformed("'id_token' is for a client that no profile has") }
        return client.clientID
    }
}

extension JSONSchema {
    fileprivate static let exchanged = JSONSchema.object(
        [
            ("access_token", .string()), ("token_type", .string()), ("expires_in", .integer()),
            ("refresh_token", .string("Only with reveal, or if it is not stored.")),
            ("id_token", .string()), ("expires_at", .string(format: "date-time")),
            ("apple_request_id", .string()), ("user_id", .string()),
            ("checks", .array(of: .check)),
            ("stored", .boolean("Whether the refresh token is in the vault.")),
            ("replayed", .boolean("Whether the code was exchanged for an earlier request.")),
        ], required: ["access_token", "checks"], isOpen: true)

    /// One check of a token.
    static let check = JSONSchema.object(
        [
            ("name", .string()), ("status", .string(among: ["passed", "failed", "skipped"])),
            ("detail", .string()),
        ], required: ["name", "status"])
}
