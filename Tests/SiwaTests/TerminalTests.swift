import Foundation
import SIWACrypto
import SIWATestSupport
import Testing

/// Tables on a real terminal, a pseudo terminal that script(1) makes, and elsewhere.
@Suite(.enabled(if: Executable.installed("script") != nil, "needs script(1)"))
struct TerminalTests {
    private static let width = 60
    private let folder: TemporaryFolder
    private let siwa: String

    init() async throws {
        folder = try TemporaryFolder()
        siwa = try Executable.product("siwa").path
        let lines = (0..<3).map { number in
            """
            {"client_id":"com.example.app","user_id":"00123\(number).0123456789abcdef.0830",\
            "token":"r0123456789abcdef0123456789abcde\(number).0.mrtu.AAAAAAAAAAAAAAAAAAAAAA"}
            """
        }
        let made = try await Executable(path: "/bin/bash").run(
            .init(
                ["-c", #""$0" vault init && "$0" vault import"#, siwa], environment: environment,
                input: .text(lines.joined(separator: "\n"))))
        try #require(made.exitCode == 0, "\(made)")
    }

    private var environment: [String: String] {
        [
            "PATH": "/usr/bin:/bin", "HOME": folder.path, "TERM": "xterm", "SIWA": siwa,
            "SIWA_VAULT_URL": "sqlite:\(folder.path("vault.db"))", "SHELL": "/bin/bash",
            "SIWA_BASE_URL": "http://127.0.0.1:9",
        ]
    }

    /// What a terminal shows of a shell command in which `$SIWA` is siwa.
    private func shown(
        _ command: String, _ more: [String: String] = [:]
    ) async throws -> [Substring] {
        let script = try #require(Executable.installed("script"))
        let result = try await script.run(
            .init(
                ["-qc", "stty cols \(Self.width); \(command)", "/dev/null"],
                environment: environment.merging(more) { $1 }))
        // The line that names the vault is a message, not part of a table.
        return result.output.replacingOccurrences(of: "\r\n", with: "\n").split(separator: "\n")
            .filter { !$0.contains("; vault sqlite:") }
    }

    private static let tables = [
        "vault list", "vault history --since 2020-01-01T00:00:00Z", "config show", "doctor",
    ]

    @Test(arguments: tables) func `a table fits the terminal and is coloured`(
        _ table: String
    ) async throws {
        let lines = try await shown("$SIWA \(table)")
        #expect(lines.count > 1, "\(lines)")
        #expect(lines.contains { $0.contains("\u{1B}[") }, "\(lines)")
        for line in lines.prefix(while: { !$0.hasPrefix("most likely cause") }) {
            #expect(Self.uncoloured(line).count <= Self.width, "\(line.debugDescription)")
        }
    }

    @Test(arguments: tables) func `output to another program is neither wrapped nor coloured`(
        _ table: String
    ) async throws {
        // Standard error stays the terminal.
        _ = try await shown("$SIWA \(table) | cat > \(folder.path("piped"))")
        let piped = String(decoding: try folder.contents("piped"), as: UTF8.self)
        #expect(piped.split(separator: "\n").contains { $0.count > Self.width }, "\(piped)")
        let plain = try await Executable(path: siwa).run(
            .init(table.split(separator: " ").map { String($0) }, environment: environment))
        #expect(piped == plain.output)
        #expect(!piped.contains("\u{1B}"), "\(piped)")
    }

    @Test(arguments: ["NO_COLOR=1", "TERM=dumb", "2> /dev/null"])
    func `colour can be disabled`(_ way: String) async throws {
        let command =
            way.hasPrefix("2") ? "$SIWA vault list \(way)" : "\(way) $SIWA vault list"
        let lines = try await shown(command)
        #expect(lines.count > 3, "\(lines)")
        #expect(!lines.joined().contains("\u{1B}"), "\(lines)")
        #expect(lines.allSatisfy { $0.count <= Self.width }, "\(lines)")
    }

    @Test func `a warning is coloured, and a secret is not`() async throws {
        let key = try folder.write(
            "key.p8", try P256PrivateKey.generate().pemRepresentation().revealed())
        chmod(key, 0o644)
        let lines = try await shown(
            "$SIWA secret --key \(key) --team-id A1B2C3D4E5 --key-id K1L2M3N4P5 --client-id app")
        let warning = try #require(lines.first { $0.contains("warning:") }, "\(lines)")
        #expect(warning.contains("\u{1B}[33m"), "\(lines)")
        let secret = try #require(lines.last)
        #expect(secret.hasPrefix("eyJ") && !secret.contains("\u{1B}"), "\(lines)")
    }

    private static func uncoloured(_ line: Substring) -> String {
        line.split(separator: "\u{1B}[", omittingEmptySubsequences: false).enumerated()
            .map { $0 == 0 ? $1 : $1.drop { $0 != "m" }.dropFirst() }.joined()
    }

    // What a command over many records shows: each of them ends with a summary.
    private static let summaries = [
        ("import $HOME/more", ["2 lines read", "2 records compared with the vault"]),
        ("check", ["5 records decrypted"]), ("rekey", ["5 records encrypted"]),
        ("export --reveal --output $HOME/out", ["5 records written"]),
        ("remap $HOME/moves --client-id com.example.app", ["1 lines read"]),
        ("prune --older-than 0s", ["0 tokens were removed from the vault, 0 searched"]),
    ]

    @Test func `commands over many records print a summary only on a terminal`()
        async throws
    {
        try writeMore()
        for (call, deeds) in Self.summaries {
            let lines = try await shown("$SIWA vault \(call)")
            for deed in deeds {
                #expect(
                    lines.contains { $0.contains("\(deed) in ") && $0.contains("/s)") }, "\(lines)")
            }
        }
        let file = folder.path("errors")
        _ = try await shown("$SIWA vault check 2> \(file)")
        let errors = String(decoding: try folder.contents("errors"), as: UTF8.self)
        #expect(errors.split(separator: "\n").count == 1 && errors.contains("; vault sqlite:"))
    }

    @Test func `progress is one terminal line that is updated`() async throws {
        try writeMore()
        // The second line comes late enough for both to be shown.
        let input = "(head -n 1 $HOME/more; sleep 2; tail -n 1 $HOME/more)"
        for (command, deed) in [("import", "lines read"), ("remap", "lines read")] {
            let lines = try await shown(
                "\(input) | $SIWA vault \(command) --client-id com.example.app")
            let line = try #require(lines.first { $0.contains("2 \(deed), ") }, "\(lines)")
            #expect(line.contains("\r\u{1B}[K2 \(deed), "), "\(line.debugDescription)")
            #expect(line.contains(#/\d+\/s/#), "\(line.debugDescription)")
            // It is removed before anything else is printed.
            let rest = line.split(separator: "2 \(deed), ").last ?? ""
            #expect(rest.contains("\r\u{1B}[K"), "\(line.debugDescription)")
        }
    }

    /// Two more tokens, one of them of a user who has another id now.
    private func writeMore() throws {
        let lines = ["m1", "m2"].map { user in
            """
            {"client_id":"com.example.app","user_id":"\(user)","token":"r.\(user).0","status":"none"}

            """
        }
        try folder.write("more", lines.joined())
        try folder.write("moves", #"{"old_user_id":"m1","user_id":"m3"}"# + "\n")
    }
}
