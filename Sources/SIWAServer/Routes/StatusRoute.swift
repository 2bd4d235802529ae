internal import SIWAApplication
internal import SIWAJOSE
internal import SIWAServerRecords

extension Route {
    /// `GET /v1/status`
    static let status = Route(
        .get, "/v1/status", scope: .token(.read),
        "Shows what 'siwa status --json' prints: problems first, then all servers, tokens, events and "
            + "revocations.",
        responses: [
            RouteResponse(
                200, "The status.",
                .object(
                    [
                        ("at", .string()), ("ok", .boolean()),
                        ("problems", .array(of: .object([], isOpen: true))),
                        ("servers", .array(of: .object([], isOpen: true))),
                        ("vault", .object([], isOpen: true)),
                        ("events", .object([], isOpen: true)),
                        ("revocations", .object([], isOpen: true)),
                        ("activity", .array(of: .object([], isOpen: true))),
                    ],
                    required: [
                        "at", "ok", "problems", "servers", "vault", "events", "revocations",
                        "activity",
                    ]))
        ]
    ) { _, context in .json(await context.status().json) }
}
