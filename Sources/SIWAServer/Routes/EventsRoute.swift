internal import SIWAApplication
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

extension Route {
    /// `GET /v1/events`
    static let events = Route(
        .get, "/v1/events", scope: .token(.read),
        "Lists verified events in the order of their commits, for applications that cannot be "
            + "called. The caller keeps the cursor; an event may be listed twice.",
        parameters: [
            RouteParameter(
                .query, "after",
                "The cursor of the previous page; without it, the oldest events are listed.",
                .eventCursor),
            RouteParameter(
                .query, "limit", "The maximum number of events; 100 unless given.",
                .integer(nil, 1...1000)),
            RouteParameter(
                .query, "wait", "How long to wait for an event if there is none; 0 s unless given.",
                .string(minLength: 1, maxLength: 3, pattern: "^([12]?[0-9]|30)s?$")),
            RouteParameter(
                .query, "types",
                "The types of the events, separated by commas; those of Apple unless given.",
                .eventTypes),
        ],
        responses: [
            RouteResponse(
                200, "Some events, and the cursor of the next page.",
                .object(
                    [
                        ("events", .array(of: .event)), ("cursor", .string()),
                    ], required: ["events", "cursor"])),
            RouteResponse(
                410,
                "The cursor is not of this database's history, or events after it were "
                    + "deleted. 'restart' is the cursor of a new beginning."),
        ]
    ) { request, context throws(Problem) in
        let question = try EventQuestion(RequestMembers(request))
        let page = try await context.page(question)
        for damaged in page.events.damaged { context.log(.damagedRow(damaged)) }
        // Events that 'siwa inbox forget' erased have no contents.
        let events = page.events.entries.compactMap { $0.body.flatMap { try? JSON($0) } }
        return .json(["events": .array(events), "cursor": .string(page.cursor.text)])
    }
}

/// What a caller asks for.
private struct EventQuestion: Sendable {
    let cursor: EventCursor?
    let selection: EventSelection
    let limit: Int
    let wait: Duration

    init(_ members: RequestMembers) throws(Problem) {
        limit = try members.integer("limit", in: 1...1000, standard: 100)
        cursor = try members.text("after").map { text throws(Problem) in
            guard let cursor = EventCursor(text) else {
                throw .malformed("'after' is not a cursor that siwa-server wrote")
            }
            return cursor
        }
        wait = try Self.wait(try members.text("wait"))
        selection = try Self.selection(try members.text("types"))
    }

    private static func wait(_ text: String?) throws(Problem) -> Duration {
        guard let text else { return .zero }
        let digits = text.hasSuffix("s") ? String(text.dropLast()) : text
        guard let seconds = Int(digits), String(seconds) == digits, (0...30).contains(seconds)
        else { throw .malformed("'wait' must be a whole number of seconds from 0 to 30") }
        return .seconds(seconds)
    }

    private static func selection(_ text: String?) throws(Problem) -> EventSelection {
        guard let text else { return .apples }
        var types: Set<EventType> = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let type = EventType(rawValue: String(name)) else {
                let known = EventType.allCases.map(\.rawValue).joined(separator: ", ")
                throw .malformed("'types' must be types of events, separated by commas: \(known)")
            }
            types.insert(type)
        }
        return .types(types)
    }
}

extension ServerContext {
    /// The next page. If there is no event, waits for one.
    fileprivate func page(_ question: EventQuestion) async throws(Problem) -> EventPage {
        let deadline = Deadline(after: question.wait, by: clocks.timekeeper)
        while true {
            let seen = eventWatch.count
            let reading = try await read { store throws(StoreError) in
                try store.events(
                    question.selection, after: question.cursor, limit: question.limit)
            }
            switch reading {
            case .unknownCursor(let restart): throw .cursorUnknown(restart)
            case .page(let page):
                guard page.events.isEmpty, deadline.remaining > .zero,
                    await eventWatch.waitForNews(after: seen, atMost: deadline.remaining)
                else { return page }
            }
        }
    }
}

extension Problem {
    /// Events may be missing after a cursor.
    fileprivate static func cursorUnknown(_ restart: EventCursor) -> Problem {
        var problem = Problem(
            .gone, .cursorUnknown,
            "the cursor is not of this database's history, or events after it were deleted: the "
                + "database was restored, moved or failed over, or the events were older than 'keep'",
            hints: [
                "go on with after= and the cursor in 'restart': events that you know come again",
                "compare what you missed: the state of a user's tokens is at /v1/users/{user_id}",
            ], exitCode: .no)
        problem.members = [.init("restart", .string(restart.text))]
        return problem
    }
}

extension JSONSchema {
    fileprivate static let eventCursor = JSONSchema.string(
        "Opaque.", minLength: 1, maxLength: EventCursor.longest,
        pattern: "^(0|[1-9][0-9]{0,16}|AQ[A-Za-z0-9_-]{28})$")

    fileprivate static let eventTypes: JSONSchema = {
        let names = EventType.allCases.map {
            String($0.rawValue.flatMap { $0 == "." ? "\\." : "\($0)" })
        }
        let one = "(\(names.joined(separator: "|")))"
        return .string(
            minLength: 1, maxLength: JSONSchema.longestText, pattern: "^\(one)(,\(one))*$")
    }()

    fileprivate static let event = JSONSchema.object(
        [
            ("type", .string()), ("user_id", .string()),
            ("event_time", .string(format: "date-time")), ("email", .string()),
            ("is_private_email", .boolean()), ("jti", .string()), ("client_id", .string()),
            ("received_at", .string(format: "date-time")),
        ], required: ["type", "jti"], isOpen: true)
}
