internal import SIWAJOSE

// W: the web flow.
extension ConformRun {
    func checkWeb() async throws {
        try await checkCallback("W01", "no state") { $0.filter { $0.0 != "state" } }
        try await checkCallback("W02", "another state") {
            $0.map { $0.0 == "state" ? ("state", "0123456789abcdef0123456789abcdef") : $0 }
        }
        try await check("W03", .web) {
            let attempt = try await signIn(
                .web, newUser(), Deviation(isForeignBrowser: true), for: "W03")
            return [.refusal("the callback of another browser's sign-in", attempt)]
        }
        try await checkMixedUsers()
        try await checkCallback("W05", "cancelled", faultsCount: true) { parameters in
            [("error", "user_cancelled_authorize")] + parameters.filter { $0.0 == "state" }
        }
        try await checkUserField()
    }

    /// Sends a callback with changed parameters, which must not sign in.
    private func checkCallback(
        _ id: String, _ comment: String, faultsCount: Bool = false,
        _ change: @escaping @Sendable ([(String, String)]) -> [(String, String)]
    ) async throws {
        try await check(id, .web) {
            let attempt = try await signIn(
                .web, newUser(), Deviation(callback: change), for: "\(id): \(comment)")
            let isWrong =
                attempt.isSignedIn || (faultsCount && (attempt.status ?? 0) >= 500)
            return [
                CheckResult.Variant(
                    comment: comment, outcome: attempt.outcome, status: attempt.status,
                    isWrong: isWrong)
            ]
        }
    }

    private func checkMixedUsers() async throws {
        let isIgnored = channels[.web] == .exchange
        try await check("W04", .web, skip: isIgnored ? "the posted token is ignored" : nil) {
            let victim = try await newUser()
            let attempt = try await signIn(
                .web, newUser(), Deviation(tokenUser: victim), for: "W04")
            return [.refusal("the identity token of another user than the code's", attempt)]
        }
    }

    private func checkUserField() async throws {
        try await check("W06", .web) {
            var variants: [CheckResult.Variant] = []
            let texts = ["{", "[]", "null", #"{"name":7}"#, String(repeating: "x", count: 100_000)]
            for text in texts {
                let attempt = try await signIn(
                    .web, newUser(),
                    Deviation(callback: { parameters in
                        parameters.filter { $0.0 != "user" } + [("user", text)]
                    }), for: "W06: user \(text.prefix(12))")
                variants.append(
                    CheckResult.Variant(
                        comment: "user is \(text.prefix(12))", outcome: attempt.outcome,
                        status: attempt.status, isWrong: (attempt.status ?? 0) >= 500))
            }
            return variants
        }
    }

}
