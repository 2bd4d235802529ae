import Foundation
import SIWAJOSE
import SIWATestSupport
import Testing

/// `siwa batch verify` as a process that is stopped in the middle.
@Suite struct BatchVerifyTests {
    private static func vector(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../SignInWithAppleTests/Vectors/\(name)").path()
    }

    private let folder: TemporaryFolder
    private let siwa: Executable
    private let item: String

    init() throws {
        folder = try TemporaryFolder()
        siwa = try Executable.product("siwa")
        let token = try String(
            contentsOfFile: Self.vector("identity-token-2019-06.jwt"), encoding: .utf8)
        item = token.split(separator: "\n").map(String.init).first ?? ""
    }

    private func call(
        _ output: String, input: String = "-", _ more: [String] = []
    ) -> Executable.Call {
        var call = Executable.Call(
            [
                "batch", "verify", "--jwks", Self.vector("jwks-2019-2022.json"), "--audience",
                "jp.yauth.signin.service2", "--at", "2019-06-05T04:40:00Z", "--input", input,
                "--output", output, "--concurrency", "2",
            ] + more, limit: .seconds(120))
        if input == "-" { call.input = .pipe }
        return call
    }

    private func lines(_ numbers: Range<Int>) -> String {
        numbers.map { "{\"id\": \($0), \"token\": \"\(item)\"}\n" }.joined()
    }

    private func results() throws -> [JSON] {
        try folder.contents("out").split(separator: 0x0A).map { try JSON($0) }
    }

    /// Starts a run that has verified some of its input and waits for more.
    private func startedRun() async throws -> RunningProgram {
        let running = try siwa.start(call(folder.path("out")))
        try running.write(lines(1..<21))
        try await eventually("results are there") {
            ((try? folder.contents("out").count { $0 == 0x0A }) ?? 0) == 20
        }
        return running
    }

    private func finishes(_ input: String) async throws {
        let path = try folder.write("in", input)
        let result = try await siwa.run(call(folder.path("out"), input: path, ["--resume"]))
        #expect(result.exitCode == 0, "\(result)")
        let numbers = try results().compactMap { $0["line"]?.integer }
        #expect(numbers == Array(1..<41))
        #expect(try results().allSatisfy { $0["valid"] == true })
    }

    @Test func `after kill -9 and an incomplete line, each item has one line`() async throws {
        let running = try await startedRun()
        running.signal(9)
        _ = try await running.result()
        let torn = try folder.contents("out").dropLast(100)
        try folder.write("out", String(decoding: torn, as: UTF8.self))
        try await finishes(lines(1..<41))
    }

    @Test func `Ctrl-C ends a batch that waits for input, and explains how to continue`()
        async throws
    {
        let running = try await startedRun()
        running.signal(2)
        let result = try await running.result()
        #expect(result.ending == .exit(130), "\(result)")
        #expect(result.errors.contains("20 done"), "\(result)")
        #expect(result.errors.contains("--resume"), "\(result)")
        try await finishes(lines(1..<41))
    }

    @Test func `a full disk and a closed output lead to exit 74`() async throws {
        let path = try folder.write("in", lines(1..<41))
        let full = try await siwa.run(call("/dev/full", input: path))
        #expect(full.exitCode == 74, "\(full)")
        #expect(full.errors.contains("no space left on device"), "\(full)")
        #expect(full.errors.contains("--resume"), "\(full)")
        var closed = call("-", input: path)
        closed.output = .closedPipe
        let result = try await siwa.run(closed)
        #expect(result.exitCode == 74, "\(result)")
        #expect(result.errors.contains("40 of their results were not delivered"), "\(result)")
    }

    @Test func `if the input cannot be read to its end, finished results are kept`() async throws {
        // A folder can be opened, and not read.
        let result = try await siwa.run(call(folder.path("out"), input: folder.path))
        #expect(result.exitCode == 3, "\(result)")
        #expect(
            result.errors.contains("input: the input could not be read to its end"), "\(result)")
        #expect(result.errors.contains("--resume"), "\(result)")
    }
}
