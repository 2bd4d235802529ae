import SIWAJOSE
import SIWATestSupport
import Testing

/// Every hostile answer leads to the right exit code, and to text that is safe to read.
@Suite struct HostileAnswerTests {
    private let siwa: Siwa

    init() throws { siwa = try Siwa() }

    @Test(arguments: HostileAnswer.all)
    func `an exchange ends with the right exit code after a hostile response`(_ row: HostileAnswer)
        async throws
    {
        try await RawServer.serving(row.steps) { server in
            let result = try await siwa.run(siwa.exchange(server.url, "-v"))
            #expect(result.ending == .exit(row.exchange), "\(result)")
            #expect(row.exchange == 0 || result.outputBytes.isEmpty, "\(result)")
            #expect(server.requests.count <= 1)
        }
    }

    @Test(arguments: HostileAnswer.all)
    func `a refresh ends with the right exit code after a hostile response`(_ row: HostileAnswer)
        async throws
    {
        try await RawServer.serving(row.steps) { server in
            let result = try await siwa.run(siwa.refresh(server.url, "-v", "--max-attempts", "1"))
            #expect(result.ending == .exit(row.refresh), "\(result)")
            #expect(row.refresh == 0 || result.outputBytes.isEmpty, "\(result)")
        }
    }

    @Test(arguments: HostileAnswer.all.filter { $0.refresh != 0 })
    func `errors are JSON if --json is given`(_ row: HostileAnswer) async throws {
        try await RawServer.serving(row.steps) { server in
            let result = try await siwa.run(
                siwa.refresh(server.url, "--json", "--max-attempts", "1"))
            let error = try #require(try JSON(result.errorBytes)["error"], "\(result)")
            #expect(error["code"]?.string?.isEmpty == false)
            #expect(error["message"]?.string?.isEmpty == false)
            #expect(error["hints"]?.elements?.isEmpty == false)
            #expect(error["exit_code"]?.integer == Int(row.refresh))
        }
    }

    @Test func `an unknown error code of Apple's is shown unchanged`() async throws {
        let body = """
            {"error":"too_many_moons","error_description":"The user's moon is full."}
            """
        try await RawServer.serving(.answering(418, body)) { server in
            let text = try await siwa.run(siwa.refresh(server.url))
            #expect(text.errors.contains("siwa: too_many_moons: "), "\(text)")
            #expect(text.errors.contains("The user's moon is full."), "\(text)")
            let json = try await siwa.run(siwa.refresh(server.url, "--json"))
            let error = try #require(try JSON(json.errorBytes)["error"])
            #expect(error["http_status"]?.integer == 418)
            #expect(error["apple"]?["error"]?.string == "too_many_moons")
            #expect(error["apple"]?["error_description"]?.string == "The user's moon is full.")
        }
    }

    @Test func `a truncated response shows none of its tokens`() async throws {
        let cut = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"access_token\":\"aHALF\""
        try await RawServer.serving([.readRequest, .write(cut), .close]) { server in
            let result = try await siwa.run(siwa.exchange(server.url, "-v"))
            #expect(!result.description.contains("aHALF"), "\(result)")
        }
    }
}
