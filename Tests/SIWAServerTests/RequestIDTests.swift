import SIWAHTTPServer
import SIWALifecycle
import Testing

@testable import SIWAServer

@Suite struct RequestIDTests {
    private func id(_ given: String? = nil) -> String {
        let fields = given.map { [HTTPField("x-request-id", $0)] } ?? []
        return RequestID.of(ServerRequest(method: "GET", target: "/", fields: fields))
    }

    @Test func `requests without an id get different ids`() {
        let ids = (0..<1000).map { _ in id() }
        #expect(Set(ids).count == ids.count)
        for id in ids { #expect(id.wholeMatch(of: /[0-9a-v]{13}/) != nil, "\(id)") }
    }

    @Test(arguments: ["a", "A-z_0.9", String(repeating: "x", count: 128)])
    func `the caller's id is used`(_ given: String) { #expect(id(given) == given) }

    @Test(arguments: ["", "a b", "ä", "a/b", String(repeating: "x", count: 129)])
    func `an invalid id is replaced`(_ given: String) { #expect(id(given) != given) }
}
