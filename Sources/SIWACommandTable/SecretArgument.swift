/// A secret on the command line, or the place to read it from.
///
/// The parser only distinguishes the four forms; the program reads the file, the variable or
/// standard input. Printing, dumping or interpolating a value shows only its form.
package enum SecretArgument: ParameterValue, Hashable {
    /// `VALUE`: the secret is on the command line, where every process can read it.
    case literal(String)

    /// `-`: the first line of standard input.
    case standardInput

    /// `@PATH`: the first line of a file.
    case file(String)

    /// `@env:NAME`: an environment variable.
    case environment(String)

    /// Reads one argument. Refuses an empty text, `@` and `@env:`, which are the result of an empty
    /// shell variable.
    package init?(argument: String) {
        switch argument {
        case "", "@", "@env:": return nil
        case "-": self = .standardInput
        case _ where argument.hasPrefix("@env:"): self = .environment(String(argument.dropFirst(5)))
        case _ where argument.hasPrefix("@"): self = .file(String(argument.dropFirst()))
        default: self = .literal(argument)
        }
    }

    /// Secret.
    package static var isSecret: Bool { true }

    /// The four forms.
    package static var expectation: String {
        "a value, -, @PATH or @env:NAME, with nothing left empty"
    }

    /// The form, never the content.
    package var argumentDescription: String { description }

    /// True of `-`.
    package var readsStandardInput: Bool { self == .standardInput }
}

extension SecretArgument: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The form, never the content.
    package var description: String {
        switch self {
        case .literal: "VALUE"
        case .standardInput: "-"
        case .file: "@PATH"
        case .environment: "@env:NAME"
        }
    }

    /// The form, never the content.
    package var debugDescription: String { description }

    /// A mirror without children, because `dump` and test failures look into mirrors.
    package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .enum) }
}
