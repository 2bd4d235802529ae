import SIWACommandTable
import SIWATestSupport
import Testing

@Suite(.enabled(if: Executable.zsh != nil, "zsh is not installed"), .blocking)
struct ZshCompletionsTests {
    @Test func `the script equals its snapshot`() throws {
        try Snapshot(name: "completions.zsh").check(sampleTool.completionScript(for: .zsh).text)
    }

    @Test func `the script has no syntax errors`() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("_siwa", sampleTool.completionScript(for: .zsh).text)
        #expect(try await Executable.zsh?.printed(["-f", "-n", file]) == "")
    }

    static let rows =
        CompletionRows.rows + [
            ("siwa public-key --format=d", ["--format=der-base64"]),
            ("siwa public-key -fd", ["-fder-base64"]),
            ("siwa revoke --out=not", ["--out=note.txt"]),
            ("siwa revoke --confirm --con", []),
            ("siwa revoke --audience a --aud", ["--audience"]),
        ]

    @Test(arguments: rows) func `the script completes words when compinit loads it`(
        _ line: String, _ offers: [String]
    ) async throws {
        let offered = try await Self.loaded.value[line]
        #expect(offered == offers)
    }

    @Test(arguments: rows) func `the script completes words when it is sourced`(
        _ line: String, _ offers: [String]
    )
        async throws
    {
        let offered = try await Self.sourced.value[line]
        #expect(offered == offers)
    }

    private static let loaded = Task { try await session("compinit -u -D") }
    private static let sourced = Task {
        try await session("compinit -u -D; compdef -d siwa; source ../functions/_siwa")
    }

    /// Types every line into an interactive zsh and presses tab: compsys works nowhere else.
    ///
    /// One shell for all lines, because starting the completion system takes a while.
    private static func session(_ setUp: String) async throws -> [String: [String]] {
        let folder = try CompletionRows.makeFolder()
        let script = sampleTool.completionScript(for: .zsh).text
        try folder.write("functions/_siwa", script)
        try folder.write("driver", driver)
        try folder.write("work/note.txt", "")
        try folder.write("work/nest/inner", "")
        let lines = rows.map(\.0)
        let output =
            try await Executable.zsh?.printed(
                ["-f", "../driver", setUp] + lines, in: folder.path("work")) ?? ""
        let answers = output.split(separator: "\n", omittingEmptySubsequences: false)
        let offers = answers.map { Set($0.split(separator: "\t").map { String($0) }).sorted() }
        return Dictionary(uniqueKeysWithValues: zip(lines, offers))
    }

    /// Prints one line of offers for each of its arguments but the first, which loads the script.
    ///
    /// `compadd` is where all of compsys ends; asked with `-O`, it says what it would offer. The
    /// widget behind ^X^X writes a mark, and zle reads keys in order: at the mark all is offered.
    private static let driver = #"""
        zmodload zsh/zpty
        offers=$PWD/../offers
        : > $offers
        zpty shell zsh -f -i
        zpty -w shell "offers=$offers; fpath=($PWD/../functions \$fpath)"
        zpty -w shell 'PS1= PS2= LISTMAX=9999; unset zle_bracketed_paste; unsetopt auto_list beep'
        zpty -w shell "siwa() { [ \"\$*\" = 'config profiles' ] && printf 'app\\nweb\\n'; }"
        zpty -w shell "autoload -Uz compinit; $1"
        zpty -w shell 'compadd() {
            local -a found
            if [[ ${@[1,(i)(-|--)]} != *-[OAD]\ * ]]; then
                builtin compadd -O found "$@"
                print -rl -- $IPREFIX${^found} >> $offers
            fi
            builtin compadd "$@"
        }'
        zpty -w shell 'mark() { print MARK >> $offers; zle kill-buffer }; zle -N mark'
        zpty -w shell "bindkey '^X^X' mark"
        marks=0
        await() {
            marks=$((marks + 1))
            until (($(grep -c MARK $offers) >= marks)); do
                zpty -r -t shell drained 2>/dev/null || sleep 0.01
            done
        }
        zpty -w -n shell $'\C-X\C-X'
        await
        for line in "${@[2,-1]}"; do
            before=$(wc -l < $offers)
            zpty -w -n shell "$line"$'\t\C-X\C-X'
            await
            print -r -- ${(pj:\t:)${(f)"$(tail -n +$((before + 1)) $offers)"}:#MARK}
        done
        """#
}
