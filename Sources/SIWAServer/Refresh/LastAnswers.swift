internal import SIWAJOSE
internal import SIWALifecycle

/// Apple's last answers about tokens that are not in the vault. A pure value.
struct LastAnswers: Sendable {
    /// Identifies a token.
    struct Key: Hashable, Sendable {
        let clientID: ClientID
        let fingerprint: String
    }

    /// An answer of Apple.
    struct Answer: Hashable, Sendable {
        let isActive: Bool
        let at: NumericDate
    }

    private var answers: [Key: Answer] = [:]
    private var order: [Key] = []

    /// The maximum number of remembered answers.
    static let limit = 10_000

    /// The answer about a token; nil if it is not remembered.
    subscript(key: Key) -> Answer? { answers[key] }

    /// Remembers an answer, and forgets the oldest ones above the limit.
    mutating func note(_ answer: Answer, _ key: Key) {
        if answers.updateValue(answer, forKey: key) == nil { order.append(key) }
        guard order.count > Self.limit else { return }
        for key in order.prefix(Self.limit / 10) { answers[key] = nil }
        order.removeFirst(Self.limit / 10)
    }
}
