/// A parameter as plain data, for the parser, help, manual and completions.
package struct ParameterInfo: Codable, Hashable, Sendable {
    /// How a parameter is written on the command line.
    package enum Kind: String, Codable, Hashable, Sendable {
        /// `--strict`: given or not.
        case flag

        /// `--code CODE`: a name and a value.
        case option

        /// `TOKEN`: a value known by its place.
        case operand
    }

    /// How often a parameter is given; the type of the property decides.
    package enum Arity: String, Codable, Hashable, Sendable {
        /// Once or not at all.
        case optional

        /// At most once; otherwise the default is used.
        case defaulted

        /// Exactly once.
        case required

        /// Any number of times.
        case repeating
    }

    /// The kind of the parameter.
    package let kind: Kind

    /// `code` for `--code`; `TOKEN` for an operand.
    package let name: String

    /// `k` for `-k`.
    package let short: String?

    /// The placeholder of the value in help, such as `FILE`.
    package let valueName: String?

    /// One or more sentences.
    package let help: String

    /// How often it may be given.
    package let arity: Arity

    /// The only valid values; empty if there is no such list.
    package let choices: [String]

    /// A description of valid values, such as "a whole number".
    package let expectation: String

    /// Whether the value must never be shown.
    package let isSecret: Bool

    /// The possible beginnings of an optional value: an argument with another beginning is not the
    /// value but the next argument. Empty if the value is required.
    package let valuePrefixes: [String]

    /// What a shell offers for the value.
    package let completion: CompletionKind

    /// Whether it is accepted before the command as well.
    package internal(set) var isGlobal = false

    /// The default, as help shows it.
    package internal(set) var defaultValue: String?

    /// How a message names it: `--code`, or `TOKEN` for an operand.
    package var label: String { kind == .operand ? name : "--\(name)" }

    /// How it is typed: `--code CODE`, `TOKEN`, `--strict`.
    package var usage: String { valueName.map { "\(label) \($0)" } ?? label }

    /// Whether the command cannot run without it.
    package var isRequired: Bool { arity == .required }

    /// Whether it may be given more than once.
    package var repeats: Bool { arity == .repeating }
}

/// What a shell offers for a value without a list of choices.
package enum CompletionKind: Codable, Hashable, Sendable {
    /// No completion: the value is an identifier, a number or a secret.
    case none

    /// Files and folders.
    case file

    /// Folders only.
    case directory

    /// The names of the tool's own commands.
    case command

    /// The topics of `help`: the commands, and `options`.
    case topic

    /// The lines that a command of the tool prints, such as `config profiles`.
    case lines(of: String)
}
