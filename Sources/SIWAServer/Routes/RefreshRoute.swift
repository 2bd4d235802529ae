internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

extension Route {
    /// `POST /v1/refresh`
    static let refresh = Route(
        .post, "/v1/refresh", scope: .token(.refresh),
        "Validates a refresh token. Apple allows at most one refresh a day for each user.",
        body: .object(
            [
                ("user_id", .userID("The user whose newest token is refreshed.")),
                ("client_id", .clientID("The client that holds the token.")),
                ("token", .opaqueToken("A refresh token, in place of user_id.")),
                ("max_age", .duration("The maximum age of a known answer of Apple.")),
            ], oneOf: ["user_id", "token"]),
        responses: [
            RouteResponse(
                200, "The token works, or a known answer about it.",
                .object(
                    [
                        ("access_token", .string()), ("token_type", .string()),
                        ("expires_in", .integer()), ("expires_at", .string(format: "date-time")),
                        ("apple_request_id", .string()), ("user_id", .string()),
                        ("other_clients", .array(of: .string())),
                        ("active", .boolean("Whether the token worked at checked_at.")),
                        ("checked_at", .string(format: "date-time")), ("cached", .boolean()),
                    ], isOpen: true)),
            RouteResponse(404, "The vault has no token of this user."),
            RouteResponse(422, "Apple refused the token."),
            RouteResponse(429, "Apple received too many requests."),
            RouteResponse(502, "Apple refused the client."),
        ], isLogged: true
    ) { request, context throws(Problem) in
        let members = RequestMembers(request)
        let (userID, clientID) = (try members.userID("user_id"), try members.clientID("client_id"))
        let token = try members.opaqueToken("token")
        let maxAge = try members.duration("max_age")
        return try await context.call { () async throws(Diagnosis) in
            let target: RefreshInput.Target
            switch (userID, token) {
            case (let userID?, nil): target = .user(userID, clientID)
            case (nil, let token?):
                target = .token(
                    RefreshToken(token), try context.clients.current.client(clientID))
            default: throw .malformed("exactly one of 'user_id' and 'token'", "is required")
            }
            request.subject.note(
                clientID: clientID, userID: userID, fingerprint: token?.fingerprint)
            let answer = try await context.refreshes.refresh(RefreshInput(target, maxAge: maxAge))
            request.subject.note(
                clientID: answer.clientID, fingerprint: answer.fingerprint,
                requestID: answer.requestID)
            return .json(answer.json)
        }
    }
}
