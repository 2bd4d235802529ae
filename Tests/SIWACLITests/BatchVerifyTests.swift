import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import Testing

@testable import SIWAApplication
@testable import SIWACLI
@testable import SIWASystem

/// `siwa batch verify` against `siwa verify`, and the parts that put its workers together.
@Suite struct BatchVerifyTests {
    /// Claims and header members that differ from a good token's.
    static let changes: [(JSON, JSON)] = [
        ([:], [:]), (["exp": 1], [:]), (["aud": ["com.example.app"]], [:]), (["sub": ""], [:]),
        (["iat": 1_900_000_000, "iss": "https://evil.example"], [:]),
        ([:], ["alg": "HS256", "kid": "one"]),
        ([:], ["kid": "two", "jku": "https://evil.example"]),
        ([:], ["crit": ["b64"]]), (["email": "a@b.example", "email_verified": "true"], [:]),
        (["real_user_status": 2, "auth_time": 1_800_000_000, "exp_rfc3339": "never"], [:]),
        (["name": "\"\\\u{7}\u{E9}\u{202E}", "nested": ["a": [1, .number("1.5"), true]]], [:]),
    ]

    @Test func `the result of an item equals what the single command prints`() async throws {
        let harness = try await CommandHarness()
        let mint = try await Fixtures.shared.value.tokens
        let good = try mint.sign(claims: [:], header: [:])
        let tokens =
            try Self.changes.map { try mint.sign(claims: $0, header: $1) }
            + ["no token", "a.b.c", good.dropLast(4) + "AAAA", "\(good)=", good]
        harness.memory.with {
            $0.files["/in"] = .init(contents: Array(tokens.joined(separator: "\n").utf8))
        }
        let batch = await harness.run([
            "batch", "verify", "--input", "/in", "--jwks", "/siwa/keys.json",
        ])
        let lines = batch.output.split(separator: "\n")
        try #require(lines.count == tokens.count, "\(batch)")
        for (token, line) in zip(tokens, lines) {
            let single = await harness.run(["verify", token, "--jwks", "/siwa/keys.json"])
            let result = try JSON(text: String(line))
            let own = ["line", "id", "status", "exit_code", "token_fingerprint", "error"]
            let rest = result.members?.filter { !own.contains($0.name) } ?? []
            #expect(JSON.object(rest).indentedText + "\n" == single.output)
            #expect(result["exit_code"]?.integer == Int(single.exitCode))
            let message = try result["error"]?["message"].map { try #require($0.string) }
            #expect(
                message
                    == single.errors.first.map { String($0.split(separator: " ", maxSplits: 2)[2]) }
            )
        }
    }

    @Test func `a thousand forged tokens among valid ones cause one request`() async throws {
        let harness = try await CommandHarness()
        let mint = try await Fixtures.shared.value.tokens
        let forged = try (0..<10).map {
            try mint.sign(claims: [:], header: ["kid": .string("f\($0)")])
        }
        let good = try await harness.signIn("com.example.app", [:]).identityToken
        let input = (0..<100).flatMap { _ in forged + [good] }
        harness.memory.with {
            $0.files["/in"] = .init(contents: Array(input.joined(separator: "\n").utf8))
        }
        let batch = await harness.run([
            "batch", "verify", "--input", "/in", "--concurrency", "4", "-q",
        ])
        #expect(batch.sent == 1 && batch.exitCode == 1)
        let done = batch.output.split(separator: "\n").filter {
            $0.hasPrefix("{") && $0.contains("\"done\"")
        }
        #expect(done.count == 100)
    }

    @Test func `results are written in the order of the groups, whichever is finished first`() {
        let sink = Lines()
        let results = OrderedResults(
            BatchOutput(sink),
            ids: SeenIDs(spill: { () throws(FileError) in throw FileError("create", "/", code: 2) }
            ),
            WakeSignal(), ahead: 3)
        func group(_ number: Int) -> GroupResults {
            let text = Array("\(number)\n".utf8)
            let result = LineResult(line: number + 1, id: 7, status: .done, length: text.count)
            return GroupResults(number: number, text: text, results: [result])
        }
        results.take(group(2))
        #expect(sink.text == "" && results.hasRoom(for: 2) && !results.hasRoom(for: 3))
        results.take(group(1))
        results.take(group(0))
        let lines = sink.text.split(separator: "\n")
        #expect(lines.first == "0" && lines.count == 3)
        // The first of the input keeps the id, not the first that was finished.
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix(#"{"line":"#) }, "\(lines)")
        #expect(results.hasRoom(for: 5) && !results.hasRoom(for: 6))
    }

    @Test func `a repeated id in the middle of a group is reported`() {
        let sink = Lines()
        let output = BatchOutput(sink)
        let results = OrderedResults(
            output,
            ids: SeenIDs(spill: { () throws(FileError) in throw FileError("create", "/", code: 2) }
            ),
            WakeSignal(), ahead: 3)
        let ids: [JSON?] = ["a", nil, "a", "b", "b", nil]
        let group = GroupResults(
            number: 0, text: Array(ids.indices.map { "\($0)\n" }.joined().utf8),
            results: ids.indices.map {
                LineResult(line: $0, id: ids[$0], status: $0 == 1 ? .refused : .done, length: 2)
            })
        results.take(group)
        let lines = sink.text.split(separator: "\n")
        #expect(lines.map { $0.count == 1 } == [true, true, false, true, false, true])
        #expect(lines.last == "5" && lines[2].contains(#""id":"a""#), "\(lines)")
        let counts = output.counted
        #expect((counts.done, counts.refused, counts.invalid) == (3, 1, 2))
    }

    @Test func `if ids cannot be kept, nothing is written that --resume would skip`() throws {
        let noRoom = { @Sendable () throws(FileError) -> any HashSink in
            throw FileError("create", "/", code: 28)
        }
        let texts = (1...3000).map { #"{"id":\#($0),"token":"t"}"# }
        let sink = Lines()
        let results = OrderedResults(
            BatchOutput(sink), ids: SeenIDs(spill: noRoom), WakeSignal(), ahead: 2)
        let lines = texts.indices.map { "\($0)\n" }
        let all = lines.indices.map {
            LineResult(
                line: $0 + 1, id: .integer($0), status: .done, length: lines[$0].utf8.count)
        }
        results.take(GroupResults(number: 0, text: Array(lines.joined().utf8), results: all))
        #expect(results.idFailure?.isTemporary == true)
        #expect(sink.text.split(separator: "\n").count == 2048)

        let other = Lines()
        let harness = Memory()
        harness.with { $0.input = Array(texts.joined(separator: "\n").utf8) }
        let input = BatchInputLines(
            try World.Streams.inside(harness).lines(nil) {},
            ResumedInput(ids: SeenIDs(spill: noRoom)), BatchOutput(other),
            read: { line, number throws(InvalidLine) in try TokenBatch.readOpaque(line, number) })
        var items = 0
        while case .item = input.next() { items += 1 }
        #expect(items == 2048 && other.text == "" && input.idFailure?.isTemporary == true)
    }
}

private final class Lines: LineSink {
    var undelivered: Int { 0 }
    private let memory = Memory()
    var text: String { memory.with { String(decoding: $0.output, as: UTF8.self) } }
    var failure: FileError? { nil }
    var isFull: Bool { false }
    func append(_ lines: ArraySlice<UInt8>) { memory.with { $0.output += lines } }
    func close() throws(FileError) {}
}
