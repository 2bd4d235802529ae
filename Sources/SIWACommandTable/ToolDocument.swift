/// A manual page or a completion script, which a tool prints or writes to a file.
package struct ToolDocument: Hashable, Sendable {
    /// What a document is.
    package enum Kind: Hashable, Sendable {
        /// A page in the man(7) language.
        case manualPage

        /// A script for a shell.
        case completions(Shell)
    }

    /// What the document is.
    package let kind: Kind

    /// The name of its file, as `man` or the shell looks it up: `siwa-config-show.1`. That of a
    /// script begins with folders below `/usr/share`: `zsh/site-functions/_siwa`.
    package let fileName: String

    /// The contents of the file.
    package let text: String
}

extension Tool {
    /// The manual page of a command, of a topic of `help`, or of the tool itself.
    ///
    /// - Throws: ``UsageError`` if there is no such command.
    package func manualPage(for commandName: String?) throws(UsageError) -> ToolDocument {
        if let page = topicPage(commandName) { return page }
        let page = ManualPage(tool: info)
        switch try topic(commandName) {
        case .tool: return page.overview()
        case .group(let word): throw error(lookup.incomplete([word]))
        case .command(let index): return page.command(commandInfo(commands[index]))
        }
    }

    /// The manual pages of the tool, of every command and of every topic.
    package func manualPages() -> [ToolDocument] {
        let page = ManualPage(tool: info)
        return [page.overview()] + page.tool.commands.map { page.command($0) }
            + topics.map { page.topic($0) }
    }

    /// The script that teaches a shell to complete this tool's command lines.
    package func completionScript(for shell: Shell) -> ToolDocument {
        let tree = CompletionTree(info)
        return switch shell {
        case .bash:
            script(BashCompletions(tree: tree).script, shell, "bash-completion/completions/\(name)")
        case .zsh: script(ZshCompletions(tree: tree).script, shell, "zsh/site-functions/_\(name)")
        case .fish:
            script(
                FishCompletions(tree: tree).script, shell, "fish/vendor_completions.d/\(name).fish")
        }
    }

    /// The completion scripts of all shells.
    package func completionScripts() -> [ToolDocument] {
        Shell.allCases.map { completionScript(for: $0) }
    }

    private func script(_ text: String, _ shell: Shell, _ fileName: String) -> ToolDocument {
        ToolDocument(kind: .completions(shell), fileName: fileName, text: text)
    }
}
