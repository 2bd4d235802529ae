import Foundation
import SIWATestSupport
import Testing

private let hasTools =
    geteuid() == 0
    && ["bash", "curl", "jq", "unshare"].allSatisfy { Executable.installed($0) != nil }

/// docs/agents.md: what it tells people to run.
@Suite(.enabled(if: hasTools, "needs root, bash, curl, jq and unshare"))
struct AgentsPageTests {
    @Test func `every command of the page works, in its order, in one folder`() async throws {
        let known = try await Executable.product("siwa-emulator").run("--help").output
        let script = try commands().joined(separator: "\n").split(separator: "\n")
            .filter { line in
                ["vectors", "conform"].allSatisfy {
                    !line.hasPrefix("siwa-emulator \($0) ") || known.contains("  \($0) ")
                }
            }
            .joined(separator: "\n")
        #expect(script.split(separator: "\n").count >= 18)
        let result = try await run(script)
        #expect(result.exitCode == 0, "\(result)")
        for text in [
            "refused, as it must be", #""valid": true"#, #""kind": "identity_token""#,
            #""type": "email-disabled""#, #"{"queued":3}"#, #""revoked": true"#,
            "the offline checks found no fault",
        ] { #expect(result.output.contains(text), "\(text) is not in \(result)") }
    }

    @Test func `every requirement for the tool is a quotation, and every section has a command`()
        throws
    {
        let sections = try page().components(separatedBy: "\n## ").dropFirst()
        let numbered = sections.filter { $0.first?.isNumber == true }
        #expect(numbered.count == 6)
        for section in numbered {
            #expect(section.contains("\n> ") && section.contains("```sh"), "\(section)")
        }
    }

    /// The blocks of the page.
    private func commands() throws -> [String] {
        try page().components(separatedBy: "```sh\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
    }

    private func page() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../..").standardized
        return try String(contentsOf: root.appending(path: "docs/agents.md"), encoding: .utf8)
    }

    /// Runs a script in a network of its own, where the ports of the page are free.
    private func run(_ script: String) async throws -> ProgramResult {
        let folder = try TemporaryFolder()
        let products = try Executable.product("siwa-emulator").path
            .split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        let whole = """
            set -euo pipefail
            ip link set lo up
            cd "$HOME"
            trap 'kill $(jobs -p)' EXIT
            \(script)
            """
        return try await Executable(path: "/usr/bin/unshare").run(
            .init(
                ["--net", "bash", "-c", whole],
                environment: [
                    "PATH": "\(products):/usr/bin:/bin:/usr/sbin:/sbin", "HOME": folder.path,
                ]))
    }
}
