/// The action that a command line requests.
package enum Invocation<World>: Sendable {
    /// A command with its parameters filled in, ready to run.
    case run(any Command<World>)

    /// This help text, which ends in a newline.
    case help(String)

    /// This line naming the version, which ends in a newline.
    case version(String)
}
