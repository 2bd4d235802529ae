import Foundation
import SIWACommandTable
import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
import SIWATestSupport
import SIWAVaultRecords
import Testing

@testable import SIWAApplication
@testable import SIWAServer

/// What users of siwa-server rely on, compared with docs/contract/siwa-server.
@Suite struct ContractTests {
    @Test func `the table of commands has no faults`() { #expect(serverTool.faults() == []) }

    @Test func `commands, flags and exit codes are as recorded`() throws {
        try checkContract(serverTool.contract(), "siwa-server/commands.txt")
    }

    @Test func `docs/server.md explains the exit codes as help does`() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/server.md")
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        let rows = lines.drop { $0 != "| exit code | meaning |" }.dropFirst(2)
            .prefix { $0.hasPrefix("|") }
        #expect(rows.map(String.init) == serverExitCodes.map { "| \($0.term) | \($0.meaning) |" })
    }

    @Test func `the members of results are as recorded`() throws {
        let token = APIToken(
            name: "a", digest: [], scopes: [.read], createdAt: NumericDate(0),
            expiresAt: NumericDate(1))
        var lines: Set<String> = []
        lines.insertMembers(of: try JSON(text: token.line(at: NumericDate(0))), at: "token list")
        try checkContract(lines, "siwa-server/members.txt")
    }

    @Test func `routes with their parameters, members and statuses are as recorded`() throws {
        var routes = RecordedRoutes()
        for table in [RouteTable.notifications(path: "/apple/notifications"), .api, .metrics] {
            table.routes.forEach { routes.add($0, of: table.listener) }
        }
        let schemas = OpenAPI(.api).json["components"]?["schemas"]?.members ?? []
        for schema in schemas { routes.add(schema.value, schema.name) }
        try checkContract(routes.lines, "siwa-server/routes.txt")
    }

    @Test func `the names and labels of metrics are as recorded`() throws {
        let metrics = Metrics()
        metrics.countRequest(on: .api, nil, status: 200, .zero)
        metrics.countAppleRequest("token", outcome: "ok", .zero)
        var counts = ServerCounts()
        counts.tokens = [ClientID(unchecked: "com.example.app"): [.active: 1]]
        counts.lastValidation = NumericDate(0)
        let gauges = Gauges(
            counts: counts, secretExpiries: [("app", NumericDate(0))], refusals: [("app", false)],
            keySetAge: .zero, unsavedTokens: 0, clockSkew: .zero)
        var lines: Set<String> = []
        for family in metrics.families() + gauges.families() {
            let samples = family.lines.filter { !$0.hasPrefix("#") }
            #expect(!samples.isEmpty, "a metric without samples cannot be recorded: \(family)")
            lines.insertMetrics(of: samples.joined(separator: "\n"))
        }
        try checkContract(lines, "siwa-server/metrics.txt")
    }
}

private struct RecordedRoutes {
    private(set) var lines: Set<String> = []

    mutating func add(_ route: Route, of listener: RouteTable.Listener) {
        let name = "\(listener.rawValue) \(route.method.rawValue) \(route.path)"
        lines.insert(name)
        for scope in route.scope.accepted ?? [] { lines.insert("\(name) scope \(scope.rawValue)") }
        for type in route.mediaTypes { lines.insert("\(name) type \(type)") }
        for parameter in route.parameters {
            let own = "\(name) \(parameter.place.rawValue) \(parameter.name)"
            lines.insert(own)
            add(parameter.schema.json, own)
        }
        if let body = route.body { add(body.json, "\(name) body") }
        for response in route.responses {
            lines.insert("\(name) \(response.status)")
            if let schema = response.schema { add(schema.json, "\(name) \(response.status)") }
        }
    }

    /// Adds the members of a JSON Schema.
    mutating func add(_ schema: JSON, _ path: String) {
        let required = schema["required"]?.elements?.compactMap(\.string) ?? []
        for property in schema["properties"]?.members ?? [] {
            let own = "\(path).\(property.name)"
            lines.insert(own + (required.contains(property.name) ? " (required)" : ""))
            add(property.value, own)
        }
        for value in schema["enum"]?.elements ?? [] {
            lines.insert("\(path) = \(value.string ?? value.text)")
        }
        if let items = schema["items"] { add(items, path + "[]") }
        for alternative in schema["oneOf"]?.elements ?? [] { add(alternative, path) }
    }
}
