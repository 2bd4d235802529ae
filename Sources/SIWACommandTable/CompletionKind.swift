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
