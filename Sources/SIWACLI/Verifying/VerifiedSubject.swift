internal import SignInWithApple

/// What was verified, as messages call it.
enum VerifiedSubject: String, Sendable {
    case identityToken = "identity_token"
    case notification

    private var words: String {
        switch self {
        case .identityToken: "identity token"
        case .notification: "notification"
        }
    }

    /// The answer no, which names the checks that failed.
    func refusal(_ failures: [Check], hints: [String]) -> NegativeAnswer {
        let list = failures.map { "\($0.name): \(printable($0.detail ?? "failed"))" }
        return NegativeAnswer(
            "\(rawValue)_not_valid",
            "the \(words) does not verify (\(list.joined(separator: "; ")))", hints: hints)
    }
}
