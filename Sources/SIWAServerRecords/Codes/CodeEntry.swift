internal import SIWACrypto
internal import SIWAJOSE
package import SIWALifecycle
package import SIWAVaultRecords

/// The entry of a code in the journal.
package struct CodeEntry: Hashable, Sendable {
    /// The state of the exchange.
    package enum State: String, Hashable, Sendable {
        /// The code was sent, or is about to be sent.
        case sent
        /// Apple's answer is known.
        case answered
        /// The code was sent, and no response was received.
        case unanswered
    }

    /// The client whose profile sent the code.
    package let clientID: ClientID
    /// ``CodeRequest/parameters`` of the first request.
    package let parameters: [UInt8]
    /// The state of the exchange.
    package let state: State
    /// How long ago the state changed, by the database's clock.
    package let age: Duration
    /// Whether a process still works on it and renews its lease.
    package let isLeased: Bool
    /// The sealed answer; nil unless it is known.
    package let answer: SealedSecret?

    /// Creates an entry.
    package init(
        clientID: ClientID, parameters: [UInt8], state: State, age: Duration, isLeased: Bool,
        answer: SealedSecret?
    ) {
        (self.clientID, self.parameters, self.state) = (clientID, parameters, state)
        (self.age, self.isLeased, self.answer) = (age, isLeased, answer)
    }

    /// Decides about a request for the same code. A code is sent to Apple at most once.
    package func decision(about request: CodeRequest) -> CodeDecision {
        guard request.parameters == parameters || !request.requiresSameParameters,
            !request.isClientGiven || request.clientID == clientID
        else { return .conflict }
        switch state {
        case .sent: return isLeased ? .wait : .mayBeSpent
        case .unanswered: return .mayBeSpent
        case .answered:
            guard age < Self.replayed, let answer else { return .alreadySent }
            return .replay(answer, clientID)
        }
    }

    /// The place that the encryption of an answer authenticates.
    ///
    /// - Parameter digest: the digest of the code.
    package static func place(of digest: [UInt8], _ clientID: ClientID) -> [String] {
        ["code answer", clientID.rawValue, digest.hexadecimal]
    }

    /// How long a repetition gets the same answer.
    package static let replayed = Duration.seconds(600)
    /// How long a code is remembered.
    package static let remembered = Duration.seconds(86_400)
}

/// The answer to a code, which is stored for ``CodeEntry/replayed``.
package struct KeptAnswer: Hashable, Sendable {
    /// The code.
    package let code: CodeDigest
    /// The client that the answer is bound to; nil if the row is damaged.
    package let clientID: ClientID?
    /// The sealed answer; nil if the row is damaged.
    package let answer: SealedSecret?

    /// Creates an answer.
    package init(code: CodeDigest, clientID: ClientID?, answer: SealedSecret?) {
        (self.code, self.clientID, self.answer) = (code, clientID, answer)
    }
}

/// The decision about a request to exchange a code.
package enum CodeDecision: Hashable, Sendable {
    /// Send the code: it is in the journal now, leased to the caller.
    case send
    /// Another request is sending the code: ask again in a moment.
    case wait
    /// The code was exchanged: repeat the sealed answer, which is bound to this client.
    case replay(SealedSecret, ClientID)
    /// The repetition has other parameters (`code_conflict`).
    case conflict
    /// The code was exchanged, and the answer is no longer stored (`code_already_sent`).
    case alreadySent
    /// The code was sent, and no response was received (`code_may_be_spent`).
    case mayBeSpent
}

/// The outcome of a code that was sent.
package enum CodeOutcome: Hashable, Sendable {
    /// Apple responded; the value is the sealed answer to the caller.
    case answered(SealedSecret)
    /// No response was received: the code may be spent.
    case unanswered
    /// The code was not sent: a repetition may send it.
    case notSent
}
