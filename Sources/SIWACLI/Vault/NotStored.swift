internal import SignInWithApple

/// A code was exchanged, and its refresh token could not be kept. It was printed.
struct NotStored: Error, Sendable {
    let diagnosis: Diagnosis

    /// What to do with a token that was only printed.
    static let remedy = "keep the refresh token that was printed: siwa vault import"

    /// Never temporary, whatever is wrong with a vault: to run it again, the code would have to be
    /// good a second time.
    init(_ reason: String) {
        diagnosis = Diagnosis(
            "not_stored", "the refresh token was not stored: \(reason)", hints: [Self.remedy],
            exitCode: .no)
    }
}
