internal import JOSE
internal import Lifecycle
internal import SIWACLI
internal import ServerRecords

extension Route {
    /// `GET /v1/users/{user_id}`
    static let user = Route(
        .get, "/v1/users/{user_id}", scope: .token(.read),
        "Shows the state of every token of a user, and the newest 100 entries of the history.",
        parameters: [
            RouteParameter(.path, "user_id", "The user.", .userID("The user.")),
            RouteParameter(
                .query, "before", "The cursor of the last answer: shows older entries.",
                .cursor("Digits.", longest: 9)),
        ],
        responses: [
            RouteResponse(
                200, "What is known.",
                .object(
                    [
                        ("user_id", .string()), ("tokens", .array(of: .object([], isOpen: true))),
                        ("history", .array(of: .object([], isOpen: true))),
                        ("before", Schema(["type": ["string", "null"]])),
                    ], required: ["user_id", "tokens", "history", "before"])),
            RouteResponse(404, "Nothing is known of this user."),
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
            try await context.access.page(of: userID, clients)
        }
        let history = try await context.read { store throws(VaultError) in
            try store.vault.history(of: userID)
        }
        guard !page.isEmpty || !history.isEmpty else {
            throw Problem(.notFound("nothing is known of this user"))
        }
        return .json(UserReport(userID, page, history, before: before).json)
    }
}

/// What the vault knows of a user.
private struct UserReport {
    let json: JSON

    private static let limit = 100

    /// - Parameter end: how many entries, counted from the oldest, come before the ones to show.
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

extension VaultStore {
    /// All entries of the history about a user, the oldest first.
    fileprivate func history(of userID: UserID) throws(VaultError) -> [VaultHistoryEntry] {
        var entries: [VaultHistoryEntry] = []
        var last: VaultHistoryPosition?
        while case let page = try history(
            VaultHistoryFilter(userID: userID), after: last, limit: 1000), let next = page.next
        {
            entries += page.entries
            last = next
        }
        return entries
    }
}
