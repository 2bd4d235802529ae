import Foundation
import SIWACLI
import SIWACommandTable
import Testing

@testable import SIWAApplication

/// The table of commands itself.
@Suite struct TableTests {
    static let commands = [
        "secret", "exchange", "refresh", "revoke", "verify", "notification", "inspect", "doctor",
        "keys", "authorize-url", "public-key", "batch revoke", "batch refresh", "batch verify",
        "migrate export", "migrate import", "migrate plan", "vault init",
        "vault list", "vault show", "vault import", "vault export", "vault remove", "vault rekey",
        "vault check", "vault prune", "vault history", "vault history prune", "vault remap",
        "inbox list", "inbox show", "inbox replay", "inbox discard", "inbox forget",
        "revocations list", "revocations retry", "config show", "config path",
        "config profiles", "init", "completions",
        "manual",
    ]

    @Test func `the table of commands has no faults`() { #expect(siwaTool.faults() == []) }

    @Test func `the overview names every command`() throws {
        let help = try siwaTool.help(for: nil)
        for command in Self.commands {
            #expect(help.contains("\n  \(command) "), "\(command) is not in\n\(help)")
        }
    }

    @Test(arguments: commands)
    func `help ends in a line feed and names the page of the global options`(
        _ command: String
    ) throws {
        let help = try siwaTool.help(for: command)
        #expect(help.hasSuffix("\n") && !help.hasSuffix("\n\n"))
        #expect(help.contains("see 'siwa help options'."), "\(help)")
        #expect(try siwaTool.manualPage(for: command).text.hasPrefix(".TH "))
    }

    @Test func `help options explains each global option once`() throws {
        let explained = try siwaTool.help(for: "options").split(separator: "\n")
            .compactMap { line in
                line.split(separator: " ").prefix { $0.hasPrefix("-") }.last.map(String.init)
            }
        #expect(explained == Self.globals)
    }

    private static let globals = [
        "--config", "--profile", "--team-id", "--client-id", "--key-id", "--key", "--signer",
        "--signer-arg", "--signer-env", "--signer-timeout", "--public-key", "--base-url",
        "--ca-file", "--timeout", "--max-attempts", "--strict", "--json", "--print", "--verbose",
        "--quiet", "--help", "--version",
    ]

    @Test func `the example of a configuration is valid`() async throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../config.example.json")
        let harness = try await CommandHarness()
        let example = try Data(contentsOf: path)
        harness.memory.with { $0.files["/siwa/config.json"] = .init(contents: Array(example)) }
        for client in ["app", "web"] {
            let outcome = await harness.run(["secret", "--profile", client, "--print", "client_id"])
            #expect(outcome.output == "com.example.\(client)\n", "\(outcome)")
        }
    }
}
