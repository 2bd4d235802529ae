package import Lifecycle
internal import SIWACrypto

/// A request to exchange a code, as the journal compares it with earlier ones.
package struct CodeRequest: Hashable, Sendable {
    /// The SHA-256 of the code.
    package let code: CodeDigest
    /// The client whose profile exchanges the code.
    package let clientID: ClientID
    /// Whether the caller named the client: if not, a repeat takes the client of the first request.
    package let isClientGiven: Bool
    /// The SHA-256 of what every repeat must bring the same: `code_verifier`, `redirect_uri` and
    /// `nonce`; an absent value equals an absent value only.
    package let parameters: [UInt8]

    /// Describes a request.
    package init(
        _ code: AuthorizationCode, clientID: ClientID, isClientGiven: Bool,
        verifier: CodeVerifier?, redirectURI: String?, nonce: String?
    ) throws(VaultError) {
        self.code = try CodeDigest(of: code)
        (self.clientID, self.isClientGiven) = (clientID, isClientGiven)
        var text: [UInt8] = []
        for value in [verifier?.text.revealed(), redirectURI, nonce] {
            text += Array((value.map { "\($0.utf8.count):\($0)" } ?? "-").utf8)
        }
        parameters = try sha256(text)
    }
}

/// The SHA-256 of a code: what the journal knows of it.
package struct CodeDigest: Hashable, Sendable {
    /// 32 bytes.
    package let bytes: [UInt8]

    /// Computes the digest.
    ///
    /// - Throws: ``VaultError`` if OpenSSL provides no SHA-256.
    package init(of code: AuthorizationCode) throws(VaultError) {
        bytes = try sha256(code.text.bytes.revealed())
    }
}

private func sha256(_ bytes: [UInt8]) throws(VaultError) -> [UInt8] {
    do {
        return try SHA256.digest(bytes.span)
    } catch {
        throw VaultError(.key, "OpenSSL provides no SHA-256: \(error)")
    }
}

/// What the journal knows of a code.
package struct CodeEntry: Hashable, Sendable {
    /// How far the exchange went.
    package enum State: String, Hashable, Sendable {
        /// The code was sent, or is about to be.
        case sent
        /// Apple's answer is known.
        case answered
        /// The code was sent, and no answer came.
        case unanswered
    }

    /// The client whose profile sent the code.
    package let clientID: ClientID
    /// ``CodeRequest/parameters`` of the first request.
    package let parameters: [UInt8]
    /// How far the exchange went.
    package let state: State
    /// How long ago the state changed, by the database's clock.
    package let age: Duration
    /// Whether a process still works on it: it renews its lease.
    package let isLeased: Bool
    /// What was answered; nil unless that is known.
    package let answer: SealedSecret?

    /// Describes an entry.
    package init(
        clientID: ClientID, parameters: [UInt8], state: State, age: Duration, isLeased: Bool,
        answer: SealedSecret?
    ) {
        (self.clientID, self.parameters, self.state) = (clientID, parameters, state)
        (self.age, self.isLeased, self.answer) = (age, isLeased, answer)
    }

    /// What to do with a request for the same code. A code is sent to Apple at most once.
    package func decision(about request: CodeRequest) -> CodeDecision {
        guard request.parameters == parameters,
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

    /// How long a repeat gets the same answer.
    package static let replayed = Duration.seconds(600)
    /// How long a code is remembered.
    package static let remembered = Duration.seconds(86_400)
}

/// What to do with a request to exchange a code.
package enum CodeDecision: Hashable, Sendable {
    /// Send the code: it is in the journal now, leased to the caller.
    case send
    /// Another request is sending it: ask again in a moment.
    case wait
    /// The code was exchanged: answer the same again. The answer's context is the code's client.
    case replay(SealedSecret, ClientID)
    /// The repeat brings other parameters (`code_conflict`).
    case conflict
    /// The code was exchanged, and the answer is not kept any more (`code_already_sent`).
    case alreadySent
    /// The code was sent, and no answer came (`code_may_be_spent`).
    case mayBeSpent
}

/// What became of a code that was sent.
package enum CodeOutcome: Hashable, Sendable {
    /// Apple answered; what the caller was answered, sealed.
    case answered(SealedSecret)
    /// No answer came: the code may be spent.
    case unanswered
    /// The code was not sent: a repeat may send it.
    case notSent
}
