import Foundation
import SIWATestSupport

/// Lines with the cursor at their end, and what every shell has to offer there.
enum CompletionRows {
    private static let commands = [
        "completions", "config", "help", "manual", "public-key", "revoke",
    ]

    /// All run in a folder that holds what `makeFolder` puts there.
    static let rows: [(line: String, offers: [String])] = [
        ("siwa ", commands),
        ("siwa re", ["revoke"]),
        ("siwa config ", ["path", "show"]),
        ("siwa config s", ["show"]),
        ("siwa -q config s", ["show"]),
        ("siwa --profile x pub", ["public-key"]),
        ("siwa -p x pub", ["public-key"]),
        ("siwa --pro", ["--profile"]),
        ("siwa --profile ", ["app", "web"]),
        ("siwa revoke --profile w", ["web"]),
        ("siwa revoke -p a", ["app"]),
        ("siwa --max-attempts re", []),
        ("siwa revoke --pro", ["--profile"]),
        ("siwa revoke --ver", ["--verbose", "--version"]),
        ("siwa revoke --profile x --con", ["--confirm"]),
        ("siwa config path --pro", []),
        ("siwa public-key --for", ["--format"]),
        ("siwa public-key --format ", ["der-base64", "jwk", "pem"]),
        ("siwa public-key --format d", ["der-base64"]),
        ("siwa public-key -f d", ["der-base64"]),
        ("siwa public-key not", ["note.txt"]),
        ("siwa public-key -v not", ["note.txt"]),
        ("siwa public-key -- not", ["note.txt"]),
        ("siwa public-key note.txt not", []),
        ("siwa revoke --out not", ["note.txt"]),
        ("siwa revoke -o not", ["note.txt"]),
        ("siwa revoke not", []),
        ("siwa revoke --token @not", ["@note.txt"]),
        ("siwa revoke --token not", []),
        ("siwa config show --folder n", ["nest"]),
        ("siwa completions ", ["bash", "fish", "zsh"]),
        ("siwa completions bash f", []),
        ("siwa manual ", commands),
        ("siwa manual config ", ["path", "show"]),
        ("siwa help config ", ["path", "show"]),
        ("siwa help re", ["revoke"]),
        ("siwa help ", (commands + ["options"]).sorted()),
        ("siwa help opt", ["options"]),
        ("siwa help config opt", []),
    ]

    /// The tool itself, as far as completions ask it: a function of the shell.
    static let tool = "siwa() { [ \"$*\" = 'config profiles' ] && printf 'app\\nweb\\n'; }"

    static func makeFolder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write("note.txt", "")
        try folder.write("nest/inner", "")
        return folder
    }
}
