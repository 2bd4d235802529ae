import SIWAHTTPServer
import SIWAJOSE
import SIWAServerRecords
import Testing

@testable import SIWAServer

@Suite struct RouteTableTests {
    private static func route(_ method: Route.Method, _ path: PathTemplate) -> Route {
        Route(method, path, scope: .open, "A route.") { _, _ in ServerResponse(status: 200) }
    }

    private let table = RouteTable(
        listener: .api,
        routes: [
            route(.get, "/v1/users/{user_id}"), route(.post, "/v1/revoke"), route(.get, "/"),
        ])

    private func match(_ method: String, _ target: String) throws -> String {
        let target = try #require(RequestTarget(target))
        return switch table.match(method, target.segments) {
        case .route(let route, let values):
            "\(route.path) \(values.map { "\($0)=\($1)" }.joined())"
        case .otherMethod(let path, let allowed): "\(path) \(allowed.joined(separator: ","))"
        case .nothing: "nothing"
        }
    }

    @Test(arguments: [
        ("GET", "/v1/users/a%2Fb?before=1", "/v1/users/{user_id} user_id=a/b"),
        ("HEAD", "/v1/users/x", "/v1/users/{user_id} user_id=x"), ("GET", "/", "/ "),
        ("DELETE", "/v1/users/x", "/v1/users/{user_id} GET,HEAD"),
        ("GET", "/v1/revoke", "/v1/revoke POST"), ("GET", "/v1/users/", "nothing"),
        ("GET", "/v1/users", "nothing"), ("GET", "/v1/users/x/y", "nothing"),
        ("GET", "http://any.example:80/v1/users/x?before=1", "/v1/users/{user_id} user_id=x"),
        ("GET", "HTTPS://[::1]/", "/ "), ("GET", "http://a", "/ "), ("GET", "http://a?x", "/ "),
        ("POST", "http://a//v1/revoke", "nothing"), ("GET", "//", "nothing"),
        ("GET", "/V1/users/x", "nothing"),
    ])
    func `a path leads to a route`(_ method: String, _ target: String, _ expected: String) throws {
        #expect(try match(method, target) == expected)
    }

    @Test(arguments: [
        ("POST", "/v1/revoke", "/v1/revoke"), ("GET", "/v1/revoke", nil),
        ("POST", "http://a/v1/revoke", nil), ("POST", "/v1/revoke?", nil),
        ("POST", "/v1/revok%65", nil),
        ("GET", "/v1/users/{user_id}", nil), ("GET", "/", "/"),
    ])
    func `a target that needs no decoding leads to a route`(
        _ method: String, _ target: String, _ expected: String?
    ) throws {
        #expect(table.route(method, at: target)?.path.description == expected)
    }

    @Test(arguments: [
        "", "x", "/%", "/%2", "/%zz", "/%00", "/a%0Ab", "/%ff", "/?a=%c3", "/\u{1}",
        "*", "a:443", "http:/v1", "http://", "http:///v1/revoke", "http://u@a/", "http://a\\/",
        "http://a#/", "http\u{1A}//a/", "ftp://a/", "http://a\u{1}/", "http://a/%zz",
    ])
    func `a malformed request target is refused`(_ target: String) {
        #expect(RequestTarget(target) == nil)
    }

    @Test func `a query is decoded once`() throws {
        let target = try #require(RequestTarget("/a%2Bb?x=1%2B2+3&y&z=%2525&&x=4"))
        #expect(target.segments == ["a+b"])
        #expect(
            target.parameters.map { "\($0.name)=\($0.value)" } == ["x=1+2 3", "y=", "z=%25", "x=4"])
    }

    @Test(
        arguments: [
            (nil, "application/json"), ("*/*", "application/json"), ("text/*", "text/plain"),
            ("text/plain, application/json;q=0.5", "text/plain"),
            ("application/json;q=0", nil), ("image/png", nil), ("", nil),
            ("application/json;q=0, */*;q=0.1", "text/plain"),
        ] as [(String?, String?)])
    func `the most preferred media type is chosen`(_ field: String?, _ expected: String?) {
        let types = ["application/json", "text/plain"]
        #expect(AcceptedTypes(field).preferred(among: types) == expected)
    }

    @Test func `every route of the tables has a path of its own`() {
        for table in [RouteTable.api, .metrics, .notifications(path: "/a")] {
            let names = table.routes.map { "\($0.method.rawValue) \($0.path)" }
            #expect(Set(names).count == names.count)
            for route in table.routes { #expect(route.summary.hasSuffix("."), "\(route.path)") }
        }
        for route in RouteTable.api.routes { #expect(route.scope != .open, "\(route.path)") }
    }
}
