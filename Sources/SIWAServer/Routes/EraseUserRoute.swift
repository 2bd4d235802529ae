internal import SIWAApplication
internal import SIWAHTTPServer
internal import SIWALifecycle
internal import SIWAServerRecords

extension Route {
    /// `DELETE /v1/users/{user_id}`
    static let eraseUser = Route(
        .delete, "/v1/users/{user_id}", scope: .token(.erase),
        "Erases a user: tokens, history, contents of events, and the user id in ended revocations.",
        parameters: [
            RouteParameter(.path, "user_id", "The user.", .userID("The user.", isInTarget: true)),
            RouteParameter(
                .query, "even_if_live",
                "Whether to erase tokens that may still work; false unless given.", .boolean()),
        ],
        responses: [
            RouteResponse(204, "Nothing is stored about the user."),
            RouteResponse(
                409,
                "A revocation is pending (revocation_pending), or a token may still work "
                    + "(token_may_work)."),
        ], isLogged: true
    ) { request, context throws(Problem) in
        let members = RequestMembers(request)
        guard let userID = try members.userID("user_id") else {
            throw .malformed("'user_id' is missing")
        }
        request.subject.note(userID: userID)
        let evenIfLive = try members.flag("even_if_live", standard: false)
        try await context.call { () async throws(Diagnosis) in
            try await context.eraser.erase(userID, evenIfLive: evenIfLive)
        }
        return ServerResponse(status: 204)
    }
}
