/// Everything about a parameter that can be written down: what the parser, help, manual and
/// completions read.
public struct ParameterInfo: Codable, Hashable, Sendable {
    /// How a parameter is written on the command line.
    public enum Kind: String, Codable, Hashable, Sendable {
        /// `--strict`: there or not.
        case flag

        /// `--code CODE`: a name and a value.
        case option

        /// `TOKEN`: a value known by its place.
        case operand
    }

    /// How often a parameter is given; the type of the property decides.
    public enum Arity: String, Codable, Hashable, Sendable {
        /// Once or not at all.
        case optional

        /// Once, or the default stands.
        case defaulted

        /// Exactly once.
        case required

        /// Any number of times.
        case repeating
    }

    /// How it is written.
    public let kind: Kind

    /// `code` for `--code`; `TOKEN` for an operand.
    public let name: String

    /// `k` for `-k`.
    public let short: String?

    /// What stands for the value in help, such as `FILE`.
    public let valueName: String?

    /// One or more sentences.
    public let help: String

    /// How often it is given.
    public let arity: Arity

    /// The only values there are; empty when there is no such list.
    public let choices: [String]

    /// What a value must be, such as "a whole number".
    public let expectation: String

    /// Whether the value must never be shown.
    public let isSecret: Bool

    /// How a value begins, where it may be left out: an argument that begins otherwise is not the
    /// value but the next argument. Empty where the value must be there.
    public let valuePrefixes: [String]

    /// What a shell offers for the value.
    public let completion: CompletionKind

    /// Whether it is accepted before the command as well.
    public internal(set) var isGlobal = false

    /// What holds when nothing is given, as help shows it.
    public internal(set) var defaultValue: String?

    /// How a message names it: `--code`, or `TOKEN` for an operand.
    public var label: String { kind == .operand ? name : "--\(name)" }

    /// How it is typed: `--code CODE`, `TOKEN`, `--strict`.
    public var usage: String { valueName.map { "\(label) \($0)" } ?? label }

    /// Whether the command cannot run without it.
    public var isRequired: Bool { arity == .required }

    /// Whether it may be given more than once.
    public var repeats: Bool { arity == .repeating }
}
