package import SIWALifecycle

/// A response, and how it is delivered.
package struct EmulatorReply: Sendable {
    /// Where a fault cuts the connection.
    package enum Cut: String, Sendable, CaseIterable {
        /// After the request, without a response.
        case noAnswer = "no_answer"
        /// After the header section.
        case beforeBody = "before_body"
        /// After half of the body.
        case midBody = "mid_body"
    }

    /// The whole answer.
    package let response: HTTPResponse
    /// The delay before the first byte of the answer.
    package let delay: Duration
    /// Where the connection is cut; nil if the whole answer is sent.
    package let cut: Cut?
    /// The endless events that follow the header section in place of a body; nil for most answers.
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
