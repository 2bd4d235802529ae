internal import SIWAApplication
internal import SIWACrypto
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

extension Route {
    /// `GET /v1/secret`
    static let secret = Route(
        .get, "/v1/secret", scope: .token(.secret),
        "Mints a client_secret that has at least half of its lifetime left.",
        parameters: [
            RouteParameter(
                .query, "profile", "One of the configuration; the default one unless given.",
                .string(minLength: 1)),
            RouteParameter(
                .query, "lifetime",
                "How long it is valid, such as 15m: at most max_secret_lifetime, 5m unless given.",
                .string(pattern: "^[0-9]{1,6}[dhms]$")),
        ],
        responses: [
            RouteResponse(
                200, "The secret.",
                .object(
                    [
                        ("client_secret", .string()), ("kind", .string()),
                        ("issued_at", .string(format: "date-time")),
                        ("expires_at", .string(format: "date-time")),
                        ("lifetime_seconds", .integer()), ("team_id", .string()),
                        ("client_id", .string()), ("key_id", .string()),
                    ], required: ["client_secret", "expires_at", "client_id"])),
            RouteResponse(304, "The caller has it: If-None-Match names its ETag."),
        ], mediaTypes: ["application/json", "text/plain"], isLogged: true
    ) { request, context throws(Problem) in
        let members = RequestMembers(request)
        let longest = context.settings.maxSecretLifetime
        let lifetime = try members.duration("lifetime") ?? min(.seconds(300), longest)
        guard lifetime >= .seconds(1), lifetime <= longest else {
            throw .malformed(
                "'lifetime' must be at least 1s, and at most "
                    + DurationArgument(longest).argumentDescription)
        }
        let clients = context.clients.current
        let client = try clients.client(profile: try members.text("profile"))
        request.subject.note(clientID: client.clientID)
        let now = context.clocks.now()
        guard let signing = client.signing else {
            throw .malformed("'profile' has no private key, so no secret can be minted")
        }
        let secret = try await clients.secrets.secret(
            of: signing, client, lifetime: lifetime, at: now)
        return request.answer(secret, lifetime, at: now)
    }
}

extension RouteRequest {
    /// The secret in the media type that the caller prefers; 304 if the caller has it already.
    fileprivate func answer(
        _ secret: ClientSecret, _ lifetime: Duration, at now: NumericDate
    ) -> ServerResponse {
        let isText = preferred(among: ["application/json", "text/plain"]) == "text/plain"
        let tag = "\"\(secret.text.fingerprint)-\(isText ? "text" : "json")\""
        let left = max(secret.expiresAt - lifetime / 2 - now, .zero).components.seconds
        let fields = [
            HTTPField("ETag", tag), HTTPField("Cache-Control", "private, max-age=\(left)"),
            HTTPField("Vary", "Accept, Authorization"),
        ]
        let known = (http.fields.list("if-none-match") ?? "").split(separator: ",").map { text in
            String(text.filter { $0 != " " && $0 != "\t" })
        }
        if known.contains(where: { $0 == tag || $0 == "W/" + tag || $0 == "*" }) {
            return ServerResponse(status: 304, fields: fields)
        }
        guard isText else { return .json(.object(secret.members), fields: fields) }
        return ServerResponse(
            status: 200, fields: [HTTPField("Content-Type", "text/plain")] + fields,
            body: .bytes(secret.text.bytes.revealed()))
    }
}

extension ProfileClients {
    fileprivate func client(profile name: String?) throws(Problem) -> ProfileClient {
        let found = name == nil ? standard : all.first { $0.name == name }
        guard let found else {
            let names = all.map(\.name).joined(separator: ", ")
            throw .malformed(
                name == nil
                    ? "'profile' is required: there is no default profile"
                    : "'profile' is unknown",
                hints: ["the profiles: \(names)"])
        }
        return found
    }
}
