import SIWATestSupport
import Testing

/// An exchange fetches Apple's keys afterwards. A hostile answer to that must not lose the tokens.
@Suite struct KeySetTests {
    private static let idToken = "eyJhbGciOiJSUzI1NiIsImtpZCI6IkEifQ.e30.AAAA"

    static let keySets: [String: [Step]] = [
        "closed": [.readRequest, .close],
        "a page": .answering(200, "<html>", type: "text/html"),
        "no keys": .answering(200, "{\"keys\":[]}"),
        "invalid keys": .answering(
            200, "{\"keys\":[1,null,{},{\"kid\":1},{\"kid\":\"A\"}]}"),
        "a key of zeros": .answering(
            200,
            "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"A\",\"alg\":\"RS256\",\"n\":\"AA\",\"e\":\"AA\"}]}"
        ),
        "deep": .answering(200, "{\"keys\":" + String(repeating: "[", count: 100_000)),
        "a refusal": .answering(400, "{\"error\":\"invalid_request\"}"),
    ]

    @Test(arguments: keySets.keys.sorted())
    func `the tokens are printed even without Apple's keys`(_ name: String) async throws {
        let siwa = try Siwa()
        let steps = try #require(Self.keySets[name])
        let answer = "{\"access_token\":\"aACCESS\",\"id_token\":\"\(Self.idToken)\"}"
        try await RawServer.serving(.answering(200, answer), steps) { server in
            let result = try await siwa.run(
                siwa.exchange(server.url, "--max-attempts", "1", "--print", "access_token"))
            #expect(result.ending == .exit(1), "\(result)")
            #expect(result.output == "aACCESS\n", "\(result)")
            #expect(
                server.requests.map(\.line) == [
                    "POST /auth/token HTTP/1.1", "GET /auth/keys HTTP/1.1",
                ])
        }
    }
}
