internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

extension Route {
    /// `GET /v1/users/{user_id}`
    static let user = Route(
        .get, "/v1/users/{user_id}", scope: .token(.read),
        "Shows the state of every token of a user, of all clients, and the newest 100 entries of the "
            + "history.",
        parameters: [
            RouteParameter(.path, "user_id", "The user.", .userID("The user.", isInTarget: true)),
            RouteParameter(
                .query, "before", "The cursor of the previous page: shows older entries.",
                .cursor("Digits.", longest: 9)),
        ],
        responses: [
            RouteResponse(
                200, "The user's tokens and history.",
                .object(
                    [
                        ("user_id", .string()), ("tokens", .array(of: .object([], isOpen: true))),
                        ("history", .array(of: .object([], isOpen: true))),
                        ("before", JSONSchema(["type": ["string", "null"]])),
                    ], required: ["user_id", "tokens", "history", "before"])),
            RouteResponse(404, "The vault has no records of this user."),
        ]
    ) { request, context throws(Problem) in
        let members = RequestMembers(request)
        guard let userID = try members.userID("user_id") else {
            throw .malformed("'user_id' is missing")
        }
        request.subject.note(userID: userID)
        let before = try members.integer("before", in: 0...999_999_999, standard: .max)
        let clients = context.clients.current
        let page = try await context.call { () async throws(Diagnosis) in
            try await context.access.allTokens(of: userID, clients)
        }
        let history = try await context.read { store throws(StoreError) in
            try store.vault.history(of: userID).entries
        }
        guard !page.isEmpty || !history.isEmpty else {
            throw Problem(.notFound("the vault has no records of this user"))
        }
        return .json(UserReport(userID, page, history, before: before).json)
    }
}

/// The vault's records of a user.
private struct UserReport {
    let json: JSON

    private static let limit = 100

    /// - Parameter end: only entries before this index are shown, counted from the oldest.
    init(_ userID: UserID, _ page: VaultPage, _ history: [VaultHistoryEntry], before end: Int) {
        let end = min(end, history.count)
        let start = max(end - Self.limit, 0)
        let damaged = page.damaged.map { row in
            JSON.object([Diagnosis(row.error).member])
        }
        json = [
            "user_id": .string(userID.rawValue),
            "tokens": .array(page.records.map { .object($0.openMembers) } + damaged),
            "history": .array(history[start..<end].reversed().map { .object($0.members) }),
            "before": start > 0 ? .string(String(start)) : .null,
        ]
    }
}
