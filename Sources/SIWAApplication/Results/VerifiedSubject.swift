package import SIWALifecycle

/// What was verified, by its name in messages.
package enum VerifiedSubject: String, Sendable {
    case identityToken = "identity_token"
    case notification

    private var words: String {
        switch self {
        case .identityToken: "identity token"
        case .notification: "notification"
        }
    }

    /// The error that names the checks that failed.
    ///
    /// - Parameter requestID: Apple's id of the request that returned the token.
    package func refusal(
        _ failures: [TokenCheck], hints: [String], requestID: String? = nil
    ) -> Diagnosis {
        let list = failures.map { "\($0.name): \(printable($0.detail ?? "failed"))" }
        return Diagnosis.negative(
            self == .identityToken ? .identityTokenNotValid : .notificationNotValid,
            "the \(words) does not verify (\(list.joined(separator: "; ")))", hints: hints,
            requestID: requestID)
    }
}
