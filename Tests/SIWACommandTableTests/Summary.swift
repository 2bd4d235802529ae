import SIWACommandTable

/// Everything a parsed sample command holds, in one line that a table row can state.
protocol Summarised {
    var parts: [String] { get }
}

extension SharedOptions: Summarised {
    var parts: [String] {
        [
            profile.map { "profile=\($0)" }, attempts == 4 ? nil : "attempts=\(attempts)",
            isQuiet ? "quiet" : nil, isVerbose ? "verbose" : nil,
        ].compactMap(\.self)
    }
}

extension Revoke: Summarised {
    var parts: [String] {
        let repeated = audiences == Revoke().audiences ? [] : ["audiences=\(audiences)"]
        return [
            "revoke", "token=\(content(of: token))", code.map { "code=\(content(of: $0))" },
            output.map { "out=\($0)" }, confirms ? "confirm" : nil,
        ].compactMap(\.self) + repeated + shared.parts
    }
}

extension PublicKey: Summarised {
    var parts: [String] {
        let format = format == .pem ? [] : ["format=\(format.rawValue)"]
        let rest = notes.isEmpty ? [] : ["notes=\(notes)"]
        return ["public-key", source] + [label].compactMap(\.self) + rest + format + shared.parts
    }
}

extension ConfigShow: Summarised {
    var parts: [String] { ["config show", "folder=\(folder)"] + shared.parts }
}

extension ConfigPath: Summarised {
    var parts: [String] { ["config path"] }
}

extension Invocation<SampleWorld> {
    var summary: String {
        switch self {
        case .run(let command as any Summarised): command.parts.joined(separator: " ")
        case .run(let command): "unexpected \(type(of: command))"
        case .help(let text): "help: \(text.prefix { $0 != "\n" })"
        case .version(let line): "version: \(line)"
        }
    }
}

/// The content of a secret argument, which its description hides.
private func content(of secret: SecretArgument) -> String {
    switch secret {
    case .literal(let value): "literal \(value)"
    case .standardInput: "standard input"
    case .file(let path): "file \(path)"
    case .environment(let name): "variable \(name)"
    }
}
