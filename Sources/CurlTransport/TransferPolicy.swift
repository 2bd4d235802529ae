/// What holds for all requests of a transport.
package struct TransferPolicy: Hashable, Sendable {
    /// Whether the usual proxy variables are honoured.
    package let usesProxies: Bool
    /// What becomes of the bodies of answers.
    package let answer: AnswerRule

    /// - Parameter answer: of Apple's answers, all is needed.
    package init(usesProxies: Bool = true, answer: AnswerRule = .whole) {
        (self.usesProxies, self.answer) = (usesProxies, answer)
    }

    /// Deliveries to an application: only the status of an answer is looked at.
    package static let deliveries = Self(usesProxies: false, answer: .dropped(limit: 64 << 10))
}
