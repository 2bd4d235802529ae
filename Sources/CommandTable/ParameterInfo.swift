/// Everything about a parameter that can be written down: what the parser, help, manual and
/// completions read.
package struct ParameterInfo: Codable, Hashable, Sendable {
    /// How a parameter is written on the command line.
    package enum Kind: String, Codable, Hashable, Sendable {
        /// `--strict`: there or not.
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

    /// How it is written.
    package let kind: Kind

    /// `code` for `--code`; `TOKEN` for an operand.
    package let name: String

    /// `k` for `-k`.
    package let short: String?

    /// The placeholder of the value in help, such as `FILE`.
    package let valueName: String?

    /// One or more sentences.
    package let help: String

    /// How often it is given.
    package let arity: Arity

    /// The only values there are; empty when there is no such list.
    package let choices: [String]

    /// What a value must be, such as "a whole number".
    package let expectation: String

    /// Whether the value must never be shown.
    package let isSecret: Bool

    /// How a value begins, where it may be left out: an argument that begins otherwise is not the
    /// value but the next argument. Empty where the value must be there.
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
