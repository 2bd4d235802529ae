public import SignInWithApple

/// An answer, and how well it travels.
public struct EmulatorReply: Sendable {
    /// Where a connection ends that a fault cuts.
    public enum Cut: String, Sendable, CaseIterable {
        /// The request was taken and nothing comes back.
        case noAnswer = "no_answer"
        /// The header section arrives, the body does not.
        case beforeBody = "before_body"
        /// Half of the body arrives.
        case midBody = "mid_body"
    }

    /// The whole answer.
    public let response: HTTPResponse
    /// How long the answer waits before its first byte leaves.
    public let delay: Duration
    /// Where the connection ends early; nil when all of the answer arrives.
    public let cut: Cut?
    /// What follows the header section without end, in place of a body; nil for most answers.
    public let events: ConsoleEvents?

    init(
        _ response: HTTPResponse, delay: Duration = .zero, cut: Cut? = nil,
        events: ConsoleEvents? = nil
    ) {
        self.response = response
        self.delay = delay
        self.cut = cut
        self.events = events
    }
}
