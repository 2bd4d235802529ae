/// The options of all requests of a transport.
package struct TransferPolicy: Hashable, Sendable {
    /// Whether the usual proxy variables are honoured.
    package let usesProxies: Bool
    /// How the bodies of answers are treated.
    package let answer: AnswerRule
    /// The method to send in place of the request's, such as `DELETE`; nil sends the request's.
    package let method: String?

    /// - Parameter answer: the default returns the whole body.
    package init(
        usesProxies: Bool = true, answer: AnswerRule = .whole, method: String? = nil
    ) {
        (self.usesProxies, self.answer, self.method) = (usesProxies, answer, method)
    }

    /// Deliveries to an application: only the status of an answer is read.
    package static let deliveries = Self(usesProxies: false, answer: .dropped(limit: 64 << 10))

    /// Questions to a program of this machine.
    package static let local = Self(usesProxies: false)
}
