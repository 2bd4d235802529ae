internal import SIWAJOSE

// W: the web flow.
extension ConformRun {
    func checkWeb() async throws {
        try await checkStateless()
        try await checkCallback("W02", "another state") {
            $0.map { $0.0 == "state" ? ("state", "0123456789abcdef0123456789abcdef") : $0 }
        }
        try await check("W03", .web) {
            let other = try await signIn(.web, newUser(), Deviation(browser: .another), for: "W03")
            let fresh = try await signIn(.web, newUser(), Deviation(browser: .fresh), for: "W03")
            return [
                .refusal("the callback of another browser's sign-in", other),
                .refusal("the same in a browser that began none, and without nonce", fresh),
            ]
        }
        try await checkMixedUsers("W04", .web)
        try await checkCallback("W05", "cancelled", faultsCount: true) { parameters in
            [("error", "user_cancelled_authorize")] + parameters.filter { $0.0 == "state" }
        }
        try await checkUserField()
        try await checkCallbackForm()
        try await checkRedirectURI()
    }

    /// W01: no state, in the browser that began and in one that did not: there, a backend that
    /// compares two absent values finds them equal.
    private func checkStateless() async throws {
        try await check("W01", .web) {
            var variants: [CheckResult.Variant] = []
            for (comment, browser, state) in [
                ("no state", CallbackBrowser.own, String?.none),
                ("no state, in a browser that began no sign-in, and without nonce", .fresh, nil),
                ("an empty state, in a browser that began no sign-in", .fresh, ""),
            ] {
                let change: @Sendable ([(String, String)]) -> [(String, String)] = { parameters in
                    parameters.filter { $0.0 != "state" } + (state.map { [("state", $0)] } ?? [])
                }
                let attempt = try await signIn(
                    .web, newUser(), Deviation(callback: change, browser: browser),
                    for: "W01: \(comment)")
                variants.append(.refusal(comment, attempt))
            }
            return variants
        }
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
        let reason: CheckResult.Skip? =
            exchanges[.web] == true ? nil : .pointless("the good sign-in exchanges no code")
        try await check("W08", .web, skip: reason) {
            let before = try await latestRequest()
            let good = try await good(.web, newUser())
            let exchanges = try await requests(after: before, "/auth/token")
                .filter { $0["status"] == 200 }
            let isNamed =
                !exchanges.isEmpty
                && exchanges.allSatisfy {
                    $0["parameters"]?.elements?.contains("redirect_uri") ?? false
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
