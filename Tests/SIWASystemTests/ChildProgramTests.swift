import Foundation
import SIWACrypto
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWASystem

/// Programs that siwa starts for `secret --deploy`.
@Suite struct ChildProgramTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func script(_ text: String) throws -> String {
        let path = folder.path("program")
        try writeFile(
            SecretBytes(("#!/bin/sh\n" + text).utf8), to: path, permissions: 0o700)
        return path
    }

    private func run(
        _ path: String, input: String = "", variables: [String: String] = [:],
        withheld: Set<String> = [], limit: Int = 60,
        output: (@Sendable (String) -> Void)? = nil
    ) throws -> ProgramEnding {
        let program = ChildProgram(
            path, input: SecretBytes(input.utf8), variables: variables, withheld: withheld,
            limit: limit, output: output)
        while true {
            do throws(FileError) {
                return try runProgram(program)
            } catch {
                // A child that another test is starting holds the new file open for a moment.
                guard error.code == ETXTBSY else { throw error }
            }
        }
    }

    @Test func `the program gets its input and its variables, and no arguments`() throws {
        let path = try script(
            "cat > \(folder.path("input")); echo \"$# $A\" > \(folder.path("seen"))")
        #expect(try run(path, input: "secret\n", variables: ["A": "b c"]) == .exit(0))
        #expect(try text("input") == "secret\n")
        #expect(try text("seen") == "0 b c\n")
    }

    @Test func `the program gets all variables except those that are withheld`() throws {
        let path = try script("env > \(folder.path("seen"))")
        #expect(try run(path, withheld: ["HOME"]) == .exit(0))
        let names = try text("seen").split(separator: "\n").map { $0.prefix { $0 != "=" } }
        #expect(names.contains("PATH"), "\(names)")
        #expect(!names.contains("HOME"), "\(names)")
    }

    @Test func `the exit status is returned`() throws {
        #expect(try run(script("exit 7")) == .exit(7))
        #expect(try run(script("kill -9 $$")) == .signal(9))
    }

    @Test func `the program starts with default signal handlers`() throws {
        // siwa ignores SIGPIPE.
        reportWriteErrors()
        #expect(try run(script("kill -PIPE $$; exit 3")) == .signal(13))
    }

    @Test func `a program that takes too long is terminated with its children`() async throws {
        let path = try script("sleep 600 & echo $! > \(folder.path("child")); wait")
        #expect(try run(path, limit: 1) == .overdue)
        let child = try #require(
            pid_t(try text("child").trimmingCharacters(in: .whitespacesAndNewlines)))
        try await eventually("it is gone, or left to init as a zombie") {
            let state = (try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)) ?? ""
            return state.isEmpty || state.contains(") Z ")
        }
    }

    @Test func `a program that ignores SIGTERM is killed`() throws {
        #expect(try run(script("trap '' TERM; while :; do sleep 1; done"), limit: 1) == .overdue)
    }

    @Test func `all lines of its output and its errors are passed on`() throws {
        let lines = Mutex<[String]>([])
        let path = try script("echo one; echo two >&2; seq 1 20000; printf 'no end'")
        #expect(try run(path) { line in lines.withLock { $0.append(line) } } == .exit(0))
        let seen = lines.withLock { $0 }
        #expect(seen.prefix(3) == ["one", "two", "1"])
        #expect(seen.suffix(2) == ["20000", "no end"])
        #expect(seen.count == 20003)
    }

    @Test
    func `a line that is too long is replaced, and siwa does not wait for remaining children`()
        throws
    {
        let lines = Mutex<[String]>([])
        let path = try script("head -c 100000 /dev/zero; echo; sleep 600 & echo $!")
        #expect(try run(path) { line in lines.withLock { $0.append(line) } } == .exit(0))
        let seen = lines.withLock { $0 }
        #expect(seen.first == "(a line of more than 65536 bytes)")
        if let child = seen.last.flatMap({ pid_t($0) }) { kill(child, SIGKILL) }
    }

    @Test func `a program that cannot be started is an error`() throws {
        #expect(throws: FileError.self) { try run(folder.path("nothing")) }
        try writeFile(SecretBytes("no script".utf8), to: folder.path("text"), permissions: 0o700)
        #expect(throws: FileError.self) { try run(folder.path("text")) }
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder.path(name), encoding: .utf8)
    }
}
