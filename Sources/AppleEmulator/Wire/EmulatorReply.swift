package import Lifecycle

/// A response, and how it is delivered.
package struct EmulatorReply: Sendable {
    /// Where a connection ends that a fault cuts.
    package enum Cut: String, Sendable, CaseIterable {
        /// The request was received and stays without a response.
        case noAnswer = "no_answer"
        /// The header section arrives, the body does not.
        case beforeBody = "before_body"
        /// Half of the body arrives.
        case midBody = "mid_body"
    }

    /// The whole answer.
    package let response: HTTPResponse
    /// How long the answer waits before its first byte leaves.
    package let delay: Duration
    /// Where the connection ends early; nil when all of the answer arrives.
    package let cut: Cut?
    /// What follows the header section without end, in place of a body; nil for most answers.
    package let events: ConsoleEvents?

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
