internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

extension Route {
    /// `GET /v1/openapi.json`
    static let openAPI: Route = Route(
        .get, "/v1/openapi.json", scope: .anyToken, "Describes this API as OpenAPI 3.1.",
        responses: [RouteResponse(200, "The description.", .object([], isOpen: true))]
    ) { _, _ throws(Problem) in
        .json(OpenAPI(.api).json)
    }
}

/// The description of a listener's routes (OpenAPI 3.1).
struct OpenAPI {
    private let table: RouteTable

    init(_ table: RouteTable) { self.table = table }

    var json: JSON {
        var paths: [(path: String, operations: [JSON.Member])] = []
        for route in table.routes {
            let member = JSON.Member(
                route.method.rawValue.lowercased(), .object(operation(route)))
            let path = route.path.description
            if let index = paths.firstIndex(where: { $0.path == path }) {
                paths[index].operations.append(member)
            } else {
                paths.append((path, [member]))
            }
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "siwa-server", "version": .string(version),
                "description":
                    "The token lifecycle of Sign in with Apple for applications in any language.",
            ],
            "paths": .object(paths.map { .init($0.path, .object($0.operations)) }),
            "components": components,
        ]
    }

    private func operation(_ route: Route) -> [JSON.Member] {
        var members: [JSON.Member] = [.init("summary", .string(route.summary))]
        if !route.parameters.isEmpty {
            members.append(.init("parameters", .array(route.parameters.map(\.json))))
        }
        if let body = route.body {
            members.append(
                .init(
                    "requestBody",
                    [
                        "required": true,
                        "content": ["application/json": ["schema": body.json]],
                    ]))
        }
        members.append(.init("responses", .object(responses(route))))
        if route.scope != .open {
            members.append(.init("security", [["token": .array(scopes(route))]]))
        }
        return members
    }

    private func scopes(_ route: Route) -> [JSON] {
        route.scope.accepted.map { $0.map(\.rawValue).sorted().map { .string($0) } } ?? []
    }

    private func responses(_ route: Route) -> [JSON.Member] {
        let own = route.responses.map { response in
            JSON.Member(String(response.status), .object(members(response, route)))
        }
        let names = own.map(\.name)
        let common = Self.common.filter { !names.contains(String($0.0)) }.map {
            JSON.Member(
                String($0.0),
                [
                    "description": .string($0.1),
                    "content": ["application/problem+json": ["schema": Self.problem]],
                ])
        }
        return own + common
    }

    private func members(_ response: RouteResponse, _ route: Route) -> [JSON.Member] {
        var content: [JSON.Member] = []
        if let schema = response.schema {
            for type in route.mediaTypes {
                let schema = type == "application/json" ? schema : JSONSchema.string()
                content.append(.init(type, ["schema": schema.json]))
            }
        } else if response.status >= 400 {
            content.append(.init("application/problem+json", ["schema": Self.problem]))
        }
        return [.init("description", .string(response.summary))]
            + (content.isEmpty ? [] : [.init("content", .object(content))])
    }

    private static let problem: JSON = ["$ref": "#/components/schemas/Problem"]

    /// The error responses that every route can have.
    private static let common: [(Int, String)] = [
        (400, "The request is malformed."), (401, "The token is missing or invalid."),
        (403, "The token lacks the required scope."), (404, "Not found."),
        (405, "The path does not allow this method."),
        (406, "The Accept field excludes every response."),
        (413, "The body is too long."), (415, "The body is not JSON."),
        (422, "Apple refused the request."), (429, "Apple received too many requests."),
        (431, "The header fields are too long."),
        (500, "An internal error."), (502, "Apple refused the client."),
        (503, "Temporary: Apple, the network or the database; see Retry-After."),
    ]

    private var components: JSON {
        [
            "schemas": ["Problem": JSONSchema.problem.json],
            "securitySchemes": [
                "token": [
                    "type": "http", "scheme": "bearer",
                    "description": "Over TCP only; 'siwa-server token add' makes a token.",
                ]
            ],
        ]
    }
}

extension JSONSchema {
    fileprivate static let problem = JSONSchema.object(
        [
            ("type", .string()), ("title", .string()), ("status", .integer()),
            ("detail", .string()), ("code", .string("The error code for programs.")),
            ("hints", .array(of: .string(), "What to do, the most likely first.")),
            ("exit_code", .integer("The exit code that siwa would have.")),
            ("retryable", .boolean("Whether repeating the request can help.")),
            ("http_status", .integer("The status of Apple's response.")),
            ("apple", .object([], isOpen: true)), ("apple_request_id", .string()),
        ],
        required: [
            "type", "title", "status", "detail", "code", "hints", "exit_code", "retryable",
        ], isOpen: true)
}

extension RouteParameter {
    fileprivate var json: JSON {
        [
            "name": .string(name), "in": .string(place.rawValue),
            "required": .boolean(place == .path), "description": .string(summary),
            "schema": schema.json,
        ]
    }
}
