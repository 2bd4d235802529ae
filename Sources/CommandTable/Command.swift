/// A subcommand: a value whose properties are its options, and the code that runs with them.
///
/// The table (`parameters`) is the only place an option is written down; the parser, the help, the
/// manual and the completions all read it.
package protocol Command<World>: Sendable {
    /// What the command is given to act upon: clock, network, console.
    associatedtype World

    /// The word typed after the tool's name; a space makes two words, as in `config show`.
    static var name: String { get }

    /// What it does, in one sentence with a full stop.
    static var abstract: String { get }

    /// More about it, in paragraphs separated by an empty line.
    ///
    /// A paragraph whose first line is indented is printed unchanged.
    static var discussion: String { get }

    /// Calls worth copying, each with what it achieves.
    static var examples: [Example] { get }

    /// The options and operands, in the order in which help shows them.
    static var parameters: [Parameter<Self>] { get }

    /// The command before anything was typed: every property has its default.
    init()

    /// Does the work.
    func run(in world: World) async throws
}

extension Command {
    /// The abstract is the whole description.
    package static var discussion: String { "" }

    /// No examples.
    package static var examples: [Example] { [] }
}
