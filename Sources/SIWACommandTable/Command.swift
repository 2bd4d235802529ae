/// A subcommand: a value whose properties are its options, and the code that runs with them.
///
/// Options are declared only in the table (`parameters`); the parser, the help, the manual and the
/// completions read it.
package protocol Command<World>: Sendable {
    /// The environment that the command runs in: clock, network, console.
    associatedtype World

    /// The word typed after the tool's name; a space makes two words, as in `config show`.
    static var name: String { get }

    /// What it does, in one sentence with a full stop.
    static var abstract: String { get }

    /// A longer description, in paragraphs separated by an empty line.
    ///
    /// A paragraph whose first line is indented is printed unchanged.
    static var discussion: String { get }

    /// Useful calls, each with its effect.
    static var examples: [Example] { get }

    /// The options and operands, in the order in which help shows them.
    static var parameters: [Parameter<Self>] { get }

    /// The command with the default of every property.
    init()

    /// Runs the command.
    func run(in world: World) async throws
}

extension Command {
    /// The abstract is the whole description.
    package static var discussion: String { "" }

    /// No examples.
    package static var examples: [Example] { [] }
}
