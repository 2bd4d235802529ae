import SIWAApplication
internal import SIWACrypto
import SIWAJOSE
internal import SIWALifecycle

/// The answer to a request to exchange a code. The journal keeps it sealed for ten minutes, to
/// answer repetitions of the request.
struct ExchangeAnswer: Sendable {
    /// The members of Apple's response, or why there are no tokens.
    let result: Result<[JSON.Member], Diagnosis>
    /// Whether the vault has the refresh token; nil if storing was not requested.
    var isStored: Bool?
    /// Whether the code was exchanged for an earlier request.
    var isReplayed = false

    /// Apple exchanged the code.
    ///
    /// - Parameter members: what `siwa exchange` prints, and the checks of the identity token.
    static func exchanged(_ members: [JSON.Member], isStored: Bool?) -> Self {
        Self(result: .success(members), isStored: isStored)
    }

    /// The exchange failed.
    static func refused(_ diagnosis: Diagnosis) -> Self { Self(result: .failure(diagnosis)) }

    /// The body of the response. It contains the refresh token if the caller asks for it and may
    /// see it, or if it could not be stored: then no other copy may exist.
    ///
    /// - Parameters:
    ///   - isRevealing: whether the caller asks for a stored token.
    ///   - mayReveal: whether the caller has the scope to see tokens.
    /// - Throws: the ``Diagnosis`` if there are no tokens.
    func body(isRevealing: Bool, mayReveal: Bool = true) throws(Diagnosis) -> JSON {
        var members = try result.get()
        let isShown = isStored == false || mayReveal && (isRevealing || isStored == nil)
        if !isShown { members.removeAll { $0.name == "refresh_token" } }
        if let isStored { members.append(.init("stored", .boolean(isStored))) }
        if isReplayed { members.append(.init("replayed", true)) }
        return .object(members)
    }

    /// The same answer for a repetition of the request.
    var replayed: Self {
        var answer = self
        answer.isReplayed = true
        return answer
    }

    /// The refresh token in the answer.
    var refreshToken: RefreshToken? {
        text("refresh_token").map { RefreshToken(SecretText($0)) }
    }

    /// The user in the answer.
    var userID: UserID? { text("user_id").flatMap { try? UserID(validating: $0) } }

    /// Apple's id of the request.
    var requestID: String? { text("apple_request_id") }

    private func text(_ name: String) -> String? {
        let members = (try? result.get()) ?? []
        return members.first { $0.name == name }?.value.string
    }
}

// The stored form.
extension ExchangeAnswer {
    var kept: SecretBytes {
        var members: [JSON.Member] = []
        switch result {
        case .success(let answer): members.append(.init("answer", .object(answer)))
        case .failure(let diagnosis):
            members.append(.init("error", diagnosis.stored))
        }
        if let isStored { members.append(.init("stored", .boolean(isStored))) }
        return SecretBytes(JSON.object(members).bytes)
    }

    /// Reads the text of ``kept``; nil for other texts.
    init?(kept bytes: SecretBytes) {
        guard let json = try? JSON(bytes.revealed()) else { return nil }
        if let answer = json["answer"]?.members {
            self = .exchanged(answer, isStored: json["stored"]?.boolean)
        } else if let error = json["error"], let diagnosis = Diagnosis(error: error) {
            self = .refused(diagnosis)
        } else {
            return nil
        }
    }
}
