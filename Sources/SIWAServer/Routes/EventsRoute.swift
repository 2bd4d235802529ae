internal import JOSE
internal import Lifecycle
internal import ServerRecords

extension Route {
    /// `GET /v1/events`
    static let events = Route(
        .get, "/v1/events", scope: .token(.read),
        "Lists verified events in the order of their commits, for applications that cannot be "
            + "called. The caller keeps the cursor; an event may be listed twice.",
        parameters: [
            RouteParameter(
                .query, "after", "The cursor of the last answer; the oldest event unless given.",
                .cursor("Digits.", longest: 18)),
            RouteParameter(
                .query, "limit", "The most events: 100 unless given.", .integer(nil, 1...1000)),
        ],
        responses: [
            RouteResponse(
                200, "Some events, and where to go on.",
                .object(
                    [
                        ("events", .array(of: .event)), ("cursor", .string()),
                    ], required: ["events", "cursor"]))
        ]
    ) { request, context throws(Problem) in
        let members = RequestMembers(request)
        let limit = try members.integer("limit", in: 1...1000, standard: 100)
        let after = try members.integer("after", in: 0...999_999_999_999_999_999, standard: 0)
        let page = try await context.read { store throws(VaultError) in
            try store.events(after: after, limit: limit)
        }
        for damaged in page.damaged { context.log(.damagedRow(damaged)) }
        // What 'siwa inbox forget' erased has no contents.
        let events = page.entries.compactMap { entry in entry.body.flatMap { try? JSON($0) } }
        return .json([
            "events": .array(events), "cursor": .string(String(page.next ?? after)),
        ])
    }
}

extension Schema {
    fileprivate static let event = Schema.object(
        [
            ("type", .string()), ("user_id", .string()),
            ("event_time", .string(format: "date-time")), ("email", .string()),
            ("is_private_email", .boolean()), ("jti", .string()), ("client_id", .string()),
            ("received_at", .string(format: "date-time")),
        ], required: ["type", "user_id", "jti", "client_id", "received_at"], isOpen: true)
}
