internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

extension Route {
    /// `POST /v1/revoke`
    static let revoke = Route(
        .post, "/v1/revoke", scope: .token(.revoke),
        "Revokes a user's tokens, as account deletion requires. The request is stored, and "
            + "repeated for up to 30 days.",
        body: .object(
            [
                ("user_id", .userID("The user; all of the user's tokens are revoked.")),
                ("token", .opaqueToken("A refresh token, in place of user_id.")),
                ("code", .opaqueToken("An authorization code, which is exchanged once.")),
                ("client_id", .clientID("Only tokens of this client.")),
                (
                    "proof",
                    .string(
                        "check_first unless given.",
                        among: Revocation.Proof.offered.map(\.rawValue))
                ),
                (
                    "wait",
                    .duration("How long to wait for the result; 10 s unless given.", atMost: 30)
                ),
            ], oneOf: ["user_id", "token", "code"]),
        responses: [
            RouteResponse(200, "The revocation has ended.", .revoked),
            RouteResponse(202, "The revocation is pending: poll Location.", .revocation),
            RouteResponse(404, "No client ever had a token of this user."),
            RouteResponse(409, "The code may have been used."),
            RouteResponse(422, "Apple refused the code."),
            RouteResponse(502, "Apple refused the client."),
        ], isLogged: true
    ) { request, context throws(Problem) in
        let input = try await RevocationInput(request, context)
        request.subject.note(input.target)
        let reply = try await context.call { () async throws(Diagnosis) in
            try await context.revocations.revoke(input)
        }
        switch reply {
        case .ended(let result): return .json(result)
        case .pending(let status):
            return .json(
                .object(status.resultMembers), status: 202,
                fields: [HTTPField("Location", "/v1/revocations/\(status.request.id)")])
        }
    }

    /// `GET /v1/revocations`
    static let revocations = Route(
        .get, "/v1/revocations", scope: .token(.revoke, .read),
        "Lists revocations, the newest first.",
        parameters: [
            RouteParameter(
                .query, "state", "Only revocations in this state.",
                .string(among: RevocationJob.State.allCases.map(\.rawValue))),
            RouteParameter(
                .query, "user_id", "Only revocations that name this user.",
                .userID("The user.", isInTarget: true)),
            RouteParameter(
                .query, "after", "The cursor of the previous page: lists older revocations.",
                .cursor("Digits.", longest: 18)),
            RouteParameter(
                .query, "limit", "The maximum number of revocations; 100 unless given.",
                .integer(nil, 1...1000)),
        ],
        responses: [
            RouteResponse(
                200, "Some revocations, and the cursor of the next page; null on the last one.",
                .object(
                    [
                        ("revocations", .array(of: .revocation)),
                        ("cursor", JSONSchema(["type": ["string", "null"]])),
                    ], required: ["revocations", "cursor"]))
        ]
    ) { request, context throws(Problem) in
        let members = RequestMembers(request)
        let filter = try members.revocationFilter()
        if let userID = filter.userID { request.subject.note(userID: userID) }
        let highest = 999_999_999_999_999_999
        let after = try members.integer("after", in: 0...highest, standard: highest)
        let limit = try members.integer("limit", in: 1...1000, standard: 100)
        let page = try await context.read { store throws(StoreError) in
            try store.revocations(filter, before: after, limit: limit)
        }
        for damaged in page.damaged { context.log(.damagedRow(damaged)) }
        let isLast = page.revocations.count + page.damaged.count < limit
        return .json([
            "revocations": .array(page.revocations.map { .object($0.resultMembers) }),
            "cursor": isLast ? .null : page.next.map { .string(String($0)) } ?? .null,
        ])
    }

    /// `GET /v1/revocations/{id}`
    static let revocation = Route(
        .get, "/v1/revocations/{id}", scope: .token(.revoke, .read),
        "Returns the state of a revocation, until 90 days after its end.",
        parameters: [
            RouteParameter(
                .path, "id", "The revocation_id.",
                .string(minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9_-]+$"))
        ],
        responses: [
            RouteResponse(200, "The state.", .revocation),
            RouteResponse(404, "No revocation has this id."),
        ]
    ) { request, context throws(Problem) in
        let id = request["id"] ?? ""
        return try await context.call { () async throws(Diagnosis) in
            .json(.object(try await context.revocations.status(id).resultMembers))
        }
    }
}

extension RequestSubject {
    fileprivate func note(_ target: RevocationInput.Target) {
        switch target {
        case .user(let userID, let clientID): note(clientID: clientID, userID: userID)
        case .token(let token, let client):
            note(clientID: client.clientID, fingerprint: token.text.fingerprint)
        case .code(_, let client): note(clientID: client.clientID)
        }
    }
}

extension RequestMembers {
    fileprivate func revocationFilter() throws(Problem) -> RevocationFilter {
        var filter = RevocationFilter(userID: try userID("user_id"))
        if let text = try text("state") {
            guard let state = RevocationJob.State(rawValue: text) else {
                let names = RevocationJob.State.allCases.map(\.rawValue)
                throw .malformed("'state' must be one of \(names.joined(separator: ", "))")
            }
            filter.states = [state]
        }
        return filter
    }
}

extension Revocation.Proof {
    /// The proofs that a request can ask for.
    fileprivate static let offered: [Self] = [.none, .afterwards, .beforeAndAfterwards]
}

extension RevocationInput {
    fileprivate init(
        _ request: RouteRequest, _ context: ServerContext
    ) async throws(Problem) {
        let members = RequestMembers(request)
        let (userID, clientID) = (try members.userID("user_id"), try members.clientID("client_id"))
        let (token, code) = (try members.revocableToken("token"), try members.opaqueToken("code"))
        var proof = Revocation.Proof.beforeAndAfterwards
        if let text = try members.text("proof") {
            guard let known = Revocation.Proof.offered.first(where: { $0.rawValue == text }) else {
                throw .malformed("'proof' must be check_first, confirm or none")
            }
            proof = known
        }
        let maxWait = try members.duration("wait") ?? .seconds(10)
        guard maxWait <= .seconds(30) else { throw .malformed("'wait' must be at most 30 s") }
        let clients = context.clients.current
        let target = try await context.call { () throws(Diagnosis) in
            switch (userID, token, code) {
            case (let userID?, nil, nil): Target.user(userID, clientID)
            case (nil, let token?, nil):
                Target.token(RefreshToken(token), try clients.client(clientID))
            case (nil, nil, let code?):
                Target.code(AuthorizationCode(code), try clients.client(clientID))
            default:
                throw .malformed("exactly one of 'user_id', 'token' and 'code'", "is required")
            }
        }
        self.init(target, proof: proof, maxWait: maxWait)
    }
}

extension JSONSchema {
    private static let results: [(String, JSONSchema)] = [
        ("revoked", .boolean("Whether no token is left that may work.")),
        ("other_clients", .array(of: .string(), "Clients of tokens that are in no profile.")),
        ("confirmed", .boolean("Whether a refused refresh proves it.")), ("kind", .string()),
        ("client_id", JSONSchema(["type": ["string", "null"]])),
        ("user_id", JSONSchema(["type": ["string", "null"]])),
        ("token_fingerprint", .string()),
        ("http_status", JSONSchema(["type": ["integer", "null"]])),
        ("at", .string(format: "date-time")),
        ("unusual", .boolean("Whether the token has another shape than Apple's.")),
        ("was_active", .boolean()), ("evidence", .string()), ("apple_request_id", .string()),
        ("tokens", .array(of: .object([], isOpen: true))),
    ]

    fileprivate static let revoked = JSONSchema.object(
        results, required: ["revoked", "confirmed"], isOpen: true)

    fileprivate static let revocation = JSONSchema.object(
        [
            ("revocation_id", .string()),
            ("state", .string(among: RevocationJob.State.allCases.map(\.rawValue))),
            ("requested_at", .string(format: "date-time")),
            ("ended_at", JSONSchema(["type": ["string", "null"]])), ("attempts", .integer()),
            ("next_attempt_at", JSONSchema(["type": ["string", "null"]])),
            ("last_error", JSONSchema(["type": ["string", "null"]])),
        ] + results, required: ["revocation_id", "state", "attempts"], isOpen: true)
}
