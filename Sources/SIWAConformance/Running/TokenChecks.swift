internal import SIWAJOSE

// T: the identity token.
extension ConformRun {
    private static let signatureChecks = (1...17).map { "T" + (($0 < 10) ? "0\($0)" : "\($0)") }

    func checkTokens(_ flow: Flow) async throws {
        for id in Catalogue.conform.map(\.id) where id.hasPrefix("T") && id != "T71" {
            switch id {
            case "T42": try await checkNonceNotSent(flow)
            case "T45": try await checkReplay(flow, "T45", isAdvice: true)
            default: try await checkToken(flow, id)
            }
        }
    }

    private func checkToken(_ flow: Flow, _ id: String) async throws {
        let bad = BadToken.all.filter {
            $0.id == id && $0.use != .vectors && ($0.isRepresentative || options.isExhaustive)
        }
        let isAdvice = channels[flow] == .exchange && Self.signatureChecks.contains(id)
        try await check(id, flow, isAdvice: isAdvice, skip: reasonToSkip(id, flow)) {
            var variants: [CheckResult.Variant] = []
            for token in bad {
                do {
                    let attempt = try await signIn(
                        flow, newUser(), Deviation(token: token), for: "\(id): \(token.comment)")
                    variants.append(.answer(to: token, attempt))
                } catch let reason as NotPossible {
                    variants.append(.notSent(token.comment, reason))
                }
            }
            return variants
        }
    }

    private func reasonToSkip(_ id: String, _ flow: Flow) -> String? {
        switch id {
        case "T40", "T41", "T42":
            flow == .native && file.signIn?.nonce == nil
                ? "the file has no 'nonce'"
                : flow == .web && !sendsWebNonce ? "the web flow sends no nonce" : nil
        case "T50": exchanges[flow] == true ? nil : "no code is exchanged"
        default: nil
        }
    }

    private func checkNonceNotSent(_ flow: Flow) async throws {
        let sends = file.signIn?.steps.contains { $0.uses("nonce") } ?? false
        let reason =
            flow == .web ? "the browser sends no nonce" : sends ? nil : "no step sends the nonce"
        try await check("T42", flow, skip: reason) {
            let attempt = try await signIn(
                flow, newUser(), Deviation(omitted: ["nonce"]), for: "T42: no nonce in the request")
            return [.refusal("the request has no nonce, the token has one", attempt)]
        }
    }

    /// Sends a sign-in that succeeded once more.
    func checkReplay(_ flow: Flow, _ id: String, isAdvice: Bool, skip: String? = nil) async throws {
        try await check(id, flow, isAdvice: isAdvice, skip: skip) {
            let user = try await newUser()
            let good = try await signIn(flow, user, for: "the good sign-in")
            guard let credentials = good.credentials, good.isSignedIn else { return [] }
            let again = try await signIn(
                flow, user, Deviation(repeated: credentials), for: "\(id): sent twice")
            return [.refusal("the same code and token again", again)]
        }
    }

    /// T71: a good token under a new key is accepted.
    func checkNewKey(_ flow: Flow) async throws {
        let reason = channels[flow] == .exchange ? "the backend verifies no signature" : nil
        try await check("T71", flow, skip: reason) {
            _ = try await apple.control("keys/rotate")
            let began = ContinuousClock.now
            while true {
                let attempt = try await signIn(flow, newUser(), for: "T71: a new key")
                let waited = ContinuousClock.now - began
                if attempt.isSignedIn {
                    return [
                        CheckResult.Variant(
                            comment: "a good token under a new key",
                            outcome: "accepted after \(waited.components.seconds) seconds",
                            status: attempt.status, isWrong: false)
                    ]
                }
                if waited > .seconds(90) {
                    return [
                        CheckResult.Variant(
                            comment: "a good token under a new key",
                            outcome: "refused for 90 seconds", status: attempt.status, isWrong: true
                        )
                    ]
                }
                try await Task.sleep(for: .seconds(2))
            }
        }
    }
}

extension CheckResult.Variant {
    /// A token that must be refused, or that may be.
    static func answer(to token: BadToken, _ attempt: Attempt) -> Self {
        let isCheck = Catalogue.check(token.id)?.vector == token.result
        let isFree = token.result == .acceptable && !isCheck
        return Self(
            comment: token.comment, outcome: attempt.outcome, status: attempt.status,
            isWrong: attempt.isSignedIn && !isFree)
    }

    /// A token that cannot be made.
    static func notSent(_ comment: String, _ reason: NotPossible) -> Self {
        Self(
            comment: comment, outcome: reason.description, status: nil, isWrong: false,
            isSent: false)
    }

    /// A request that must be refused.
    static func refusal(_ comment: String, _ attempt: Attempt) -> Self {
        Self(
            comment: comment, outcome: attempt.outcome, status: attempt.status,
            isWrong: attempt.isSignedIn)
    }
}
