import SIWACLI
import SIWACommandTable

@testable import SIWAApplication
@testable import SIWAServer

/// The pages of docs that are written from the tables: docs/errors.md and docs/reference.md.
enum ReferenceDocument {
    static let errors: String = {
        let intro = """
            # Errors

            An error of siwa and of siwa-server begins with a code, `siwa: CODE: what happened`, \
            then come hints, the likeliest cause first. With `--json`, and in answers of \
            siwa-server's API, the code is the member `code`. Codes stay the same in all versions \
            1.x; the words after them do not. Without the network: `siwa help errors CODE`, and \
            siwa-errors(7).

            Causes of `invalid_client` that siwa finds have codes of their own: \
            [invalid-client.md](invalid-client.md#the-causes). What the exit codes mean: \
            [reference.md](reference.md#exit-codes).

            This page is written from the catalogue in the source (`RECORD_SNAPSHOTS=1`); do not \
            edit it.

            """
        return intro
            + ErrorCode.groups.map { group in
                "\n## \(group.title)\n" + group.entries.map(Self.section).joined()
            }.joined()
    }()

    private static func section(_ entry: ErrorCode.Entry) -> String {
        let code = entry.code.rawValue
        return
            "\n### `\(code)`\n\n\(prose(entry.meaning))\n\n\(prose(entry.remedy))\n"
    }

    static let reference: String = {
        let intro = """
            # Reference

            Commands, settings, exit codes and environment, written from the tables of the \
            programs (`RECORD_SNAPSHOTS=1`); do not edit this page. `siwa COMMAND --help` and the \
            manual pages have every flag of a command, and [errors.md](errors.md) every code of an \
            error.

            """
        return [
            intro, "## Commands\n", commands(siwaTool), commands(serverTool),
            "## Options of every command of siwa\n", options,
            """
            For every token, code and nonce, `-` reads standard input, `@PATH` a file, `@env:NAME` \
            a variable. A literal works at a prompt; `--strict` refuses it, because every process \
            on the machine can read a command line.

            """,
            "## Exit codes\n", exitCodes,
            "## Configuration\n",
            """
            The file is `--config`, else `$SIWA_CONFIG`, else `~/.config/siwa/config.json`, else \
            `/etc/siwa/config.json`; [config.example.json](../config.example.json) shows it. A flag \
            wins over the environment, the environment over the profile. `siwa help settings` and \
            siwa-config.json(5) have the same without the network.

            """, settings, "## Environment\n", environment,
        ].joined(separator: "\n")
    }()

    private static func commands<World>(_ tool: Tool<World>) -> String {
        table(
            ["command", "what it does"],
            tool.commandDefinitions.map { ["`\(tool.name) \($0.term)`", prose($0.meaning)] })
    }

    private static var options: String {
        table(
            ["option", "meaning"],
            siwaTool.globalDefinitions.map { ["`\($0.term)`", prose($0.meaning)] })
    }

    private static var exitCodes: String {
        table(
            ["code", "meaning", "a runbook"],
            ExitCode.allCases.filter { $0.rawValue < 128 }.map {
                [String($0.rawValue), prose($0.meaning), prose($0.advice)]
            } + [["128+n", "Ended by signal n, such as 130 (SIGINT) and 143 (SIGTERM).", ""]])
    }

    private static var settings: String {
        SettingEntry.groups.map { title, entries in
            "### \(title)\n\n"
                + table(
                    ["member", "flag", "environment", "meaning"],
                    entries.map {
                        [
                            "`\($0.member)`", $0.flag.map { "`\($0)`" } ?? "",
                            $0.variable.map { "`\($0)`" } ?? "", prose($0.meaning),
                        ]
                    })
        }.joined(separator: "\n")
    }

    private static var environment: String {
        table(
            ["variable", "meaning"],
            siwaTool.environmentDefinitions.map { ["`\($0.term)`", prose($0.meaning)] })
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows).map {
            "| " + $0.joined(separator: " | ") + " |\n"
        }.joined().replacing("|  |", with: "| |").replacing("|  |", with: "| |")
    }

    /// Commands that help writes in apostrophes, and words that Markdown would read as markup, as
    /// code.
    private static func prose(_ text: String) -> String {
        text.replacing(/(^|[ (])'([^']+)'/) { "\($0.1)`\($0.2)`" }
            .replacing("|", with: "\\|").replacing("<id>", with: "&lt;id&gt;")
            .replacing("<key_id>", with: "&lt;key_id&gt;")
    }
}
