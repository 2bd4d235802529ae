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
        try await checkMixedUsers("W04", .web)
        try await checkCallback("W05", "cancelled", faultsCount: true) { parameters in
            [("error", "user_cancelled_authorize")] + parameters.filter { $0.0 == "state" }
        }
        try await checkUserField()
        try await checkCallbackForm()
        try await checkRedirectURI()
    }

    /// W07: state twice, and a link in place of the form.
    private func checkCallbackForm() async throws {
        try await check("W07", .web) {
            let twice = try await signIn(
                .web, newUser(),
                Deviation(callback: { $0 + [("state", "0123456789abcdef0123456789abcdef")] }),
                for: "W07: state twice")
            var variants = [CheckResult.Variant.refusal("state twice", twice)]
            guard postsCallback else { return variants }
            let link = try await signIn(
                .web, newUser(), Deviation(isLink: true), for: "W07: the callback as a link")
            variants.append(.refusal("the callback as a link", link))
            return variants
        }
    }

    /// W08: the exchange names the redirect URI of the request, which the emulator compares.
    private func checkRedirectURI() async throws {
        let reason = exchanges[.web] == true ? nil : "the good sign-in exchanges no code"
        try await check("W08", .web, skip: reason) {
            let before = try await latestRequest()
            let good = try await signIn(.web, newUser(), for: "the good sign-in")
            let exchanges = try await requests(after: before, "/auth/token")
            let isNamed = exchanges.allSatisfy { record in
                record["parameters"]?.elements?.contains("redirect_uri") ?? false
                    && record["status"] == 200
            }
            return [
                CheckResult.Variant(
                    comment: "a good sign-in",
                    outcome: isNamed
                        ? "the exchange names the redirect_uri of the request"
                        : "the exchange names no redirect_uri, or another one",
                    status: good.status, isWrong: !isNamed)
            ]
        }
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
