internal import JOSE
internal import Lifecycle

/// When Apple last answered about tokens that are not in the vault, and what. A pure value.
struct LastAnswers: Sendable {
    /// Names a token.
    struct Key: Hashable, Sendable {
        let clientID: ClientID
        let fingerprint: String
    }

    /// What Apple answered.
    struct Answer: Hashable, Sendable {
        let isActive: Bool
        let at: NumericDate
    }

    private var answers: [Key: Answer] = [:]
    private var order: [Key] = []

    /// How many are remembered at most.
    static let limit = 10_000

    /// The answer about a token; nil if none is remembered.
    subscript(key: Key) -> Answer? { answers[key] }

    /// Remembers an answer; forgets the oldest tokens if there are too many.
    mutating func note(_ answer: Answer, _ key: Key) {
        if answers.updateValue(answer, forKey: key) == nil { order.append(key) }
        guard order.count > Self.limit else { return }
        for key in order.prefix(Self.limit / 10) { answers[key] = nil }
        order.removeFirst(Self.limit / 10)
    }
}
