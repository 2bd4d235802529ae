internal import SIWAJOSE

// T: the identity token.
extension ConformRun {
    private static let signatureChecks = (1...17).map { "T" + (($0 < 10) ? "0\($0)" : "\($0)") }

    func checkTokens(_ flow: Flow) async throws {
        try await tryDoor(flow)
        for id in Catalogue.conform.map(\.id) where id.hasPrefix("T") && id != "T71" {
            switch id {
            case "T04": try await checkBait(flow)
            case "T42": try await checkNonceNotSent(flow)
            case "T45": try await checkReplay(flow, "T45")
            default: try await checkToken(flow, id)
            }
        }
    }

    /// Signs in with a good token that is made and delivered as the bad ones will be. If that is
    /// refused, the refusal of a bad one says nothing.
    private func tryDoor(_ flow: Flow) async throws {
        guard BadToken.all.contains(where: { options.reasonToSkip($0.id) == nil }) else { return }
        let good = BadToken.text("T00", "a good token") { good, _ in good.token }
        let attempt = try await signIn(
            flow, newUser(), Deviation(token: good), for: "the good token, made again")
        if attempt.isSignedIn { return }
        closedDoors[flow] =
            "a good token that is delivered in the same way is not accepted: \(attempt.outcome)"
    }

    /// Why nothing can be said about tokens; nil if it can.
    private func doubt(_ flow: Flow) -> CheckResult.Variant? {
        closedDoors[flow].map {
            CheckResult.Variant(
                comment: "a good token", outcome: $0, status: nil, isWrong: false, isOpen: true)
        }
    }

    private func checkToken(_ flow: Flow, _ id: String) async throws {
        let bad = BadToken.all.filter {
            $0.id == id && $0.use != .vectors && ($0.isRepresentative || options.isExhaustive)
        }
        try await check(
            id, flow, adviceReason: adviceReason(id, flow), skip: skip(id, flow)
        ) {
            if let doubt = doubt(flow) { return [doubt] }
            var variants: [CheckResult.Variant] = []
            for token in bad {
                do {
                    variants += try await answers(flow, to: token)
                } catch let reason as NotPossible {
                    variants.append(.notSent(token.comment, reason))
                }
            }
            if id == "T43", flow == .native { variants.append(try await hashedTwice(flow)) }
            if id == "T40", flow == .native, file.signIn?.nonce?.source == .server {
                variants.append(try await nonceOfAnother(flow))
            }
            return variants
        }
    }

    /// The answers to a bad token.
    ///
    /// A backend that compares the token of the request with that of the exchange gets the bad one
    /// in both places, and then in the request alone. Whether it believes anything else of a
    /// posted token than the user, which is compared, R03 finds out.
    private func answers(
        _ flow: Flow, to token: BadToken
    ) async throws -> [CheckResult.Variant] {
        let label = "\(token.id): \(token.comment)"
        let attempt = try await signIn(flow, newUser(), Deviation(token: token), for: label)
        let answer = CheckResult.Variant.answer(to: token, attempt)
        let isBoundElsewhere = token.id == "T51" || attempt.isSignedIn
        guard channels[flow] == .both, !isBoundElsewhere else { return [answer] }
        let alone = try await signIn(
            flow, newUser(), Deviation(token: token, channel: .request),
            for: label + ", in the request alone")
        var other = CheckResult.Variant.answer(to: token, alone, ", in the request alone")
        other.adviceReason = Self.boundByExchange
        return [answer, other]
    }

    private static let boundByExchange =
        "The token of the exchange still says who signs in: verify the posted one, or ignore it."

    /// Why a failure is no more than advice in this flow.
    private func adviceReason(_ id: String, _ flow: Flow) -> String? {
        if id == "T51" {
            return """
                The access token comes in one answer with this token, so that comparing them is \
                optional (OpenID Connect Core §3.1.3.8).
                """
        }
        guard channels[flow] == .exchange, Self.signatureChecks.contains(id) else { return nil }
        return """
            The token of the exchange comes from Apple over TLS, which takes the place of its \
            signature (OpenID Connect Core §3.1.3.7).
            """
    }

    /// T43: the nonce of the token and the one in the request are both hashed.
    private func hashedTwice(_ flow: Flow) async throws -> CheckResult.Variant {
        let attempt = try await signIn(
            flow, newUser(), Deviation(nonce: .hashed), for: "T43: hashed twice")
        return .refusal("the hash in the request, and in the token", attempt)
    }

    /// T40: the token has a nonce that the server gave to somebody else.
    private func nonceOfAnother(_ flow: Flow) async throws -> CheckResult.Variant {
        let comment = "the nonce that the server gave to another sign-in"
        let attempt = try await signIn(
            flow, newUser(), Deviation(nonce: .ofAnother), for: "T40: \(comment)")
        return .refusal(comment, attempt)
    }

    /// T04: the addresses in the header must not even be fetched.
    private func checkBait(_ flow: Flow) async throws {
        let bad = BadToken.all.filter { $0.id == "T04" }
        try await check("T04", flow, adviceReason: adviceReason("T04", flow)) {
            if let doubt = doubt(flow) { return [doubt] }
            var variants: [CheckResult.Variant] = []
            for token in bad {
                let before = try await latestRequest()
                let attempt = try await signIn(
                    flow, newUser(), Deviation(token: token), for: "T04: \(token.comment)")
                let isFetched = try await requests(after: before, nil).contains {
                    $0["path"]?.string?.hasPrefix("/bait/") ?? false
                }
                variants.append(
                    CheckResult.Variant(
                        comment: token.comment,
                        outcome: attempt.outcome + (isFetched ? "; THE ADDRESS WAS FETCHED" : ""),
                        status: attempt.status, isWrong: attempt.isSignedIn || isFetched))
            }
            return variants
        }
    }

    private func skip(_ id: String, _ flow: Flow) -> CheckResult.Skip? {
        switch id {
        case "T40", "T41", "T42", "T43", "T44", "T56":
            flow == .native && file.signIn?.nonce == nil
                ? .missing("the file has no 'nonce'")
                : flow == .web && !sendsWebNonce
                    ? .pointless("the web flow sends no nonce") : nil
        case "T50":
            exchanges[flow] != true
                ? .pointless("no code is exchanged")
                : channels[flow] == .exchange
                    ? .pointless("the exchange itself binds the token to the code") : nil
        case "T51":
            channels[flow] == .request
                ? .pointless("no access token comes with the request's token") : nil
        case "T55": reasonNotToMixClients(flow)
        default: nil
        }
    }

    private func reasonNotToMixClients(_ flow: Flow) -> CheckResult.Skip? {
        let own = flow == .native ? file.signIn?.clientID : file.web?.clientID
        guard let other = sibling(of: own ?? "") else {
            return .missing("the file describes one client")
        }
        return file.audiences.contains(other)
            ? .pointless("'\(other)' is in 'audiences', whose tokens every flow may accept") : nil
    }

    /// T42: the request has no nonce, or an empty one; or the server was never asked for one.
    private func checkNonceNotSent(_ flow: Flow) async throws {
        let steps = file.signIn?.steps ?? []
        let asked = steps.contains { $0.saves.contains { $0.name == "nonce" } }
        var deviations: [(String, Deviation)] = []
        if steps.contains(where: { $0.uses("nonce") }) {
            deviations = [
                ("the request has no nonce", Deviation(omitted: ["nonce"])),
                ("the nonce in the request is empty", Deviation(nonce: .sent(""))),
                ("the nonce in the request is null", Deviation(nonce: .sent(.null))),
            ]
        }
        if asked {
            deviations += [
                (
                    "the server was not asked for a nonce",
                    Deviation(nonce: .notAsked(isInToken: true))
                ),
                (
                    "the server was not asked for a nonce, and the token has none",
                    Deviation(nonce: .notAsked(isInToken: false))
                ),
            ]
        }
        if steps.contains(where: { $0.uses("state") }) {
            deviations.append(("the request has no state", Deviation(omitted: ["state"])))
        }
        let reason: CheckResult.Skip? =
            flow == .web
            ? .pointless("the browser sends no nonce")
            : skip("T42", flow)
                ?? (deviations.isEmpty ? .pointless("no step sends or asks for a nonce") : nil)
        try await check("T42", flow, skip: reason) {
            var variants: [CheckResult.Variant] = []
            for (comment, deviation) in deviations {
                let attempt = try await signIn(
                    flow, newUser(), deviation, for: "T42: \(comment)")
                variants.append(.refusal(comment, attempt))
            }
            return variants
        }
    }

    /// Sends a sign-in that succeeded once more.
    func checkReplay(
        _ flow: Flow, _ id: String, adviceReason: String? = nil, skip: CheckResult.Skip? = nil
    ) async throws {
        try await check(id, flow, adviceReason: adviceReason, skip: skip) {
            let user = try await newUser()
            guard let credentials = try await good(flow, user).credentials else { return [] }
            let again = try await signIn(
                flow, user, Deviation(repeated: credentials), for: "\(id): sent twice")
            return [.refusal("the same code and token again", again)]
        }
    }

    /// Why nothing is said about Apple's keys.
    static let signatureUnseen =
        "the token of the exchange counts here, whose signature need not be verified"

    /// T71: a good token under a new key is accepted, in every flow after one rotation.
    func checkNewKey() async throws {
        let reasons = flows.map { flow -> CheckResult.Skip? in
            channels[flow] == .exchange ? .pointless(Self.signatureUnseen) : nil
        }
        var found: [Flow: CheckResult.Variant] = [:]
        let isNeeded = Catalogue.check("T71").map { options.reasonToSkip($0) == nil } ?? false
        if isNeeded, reasons.contains(where: { $0 == nil }) {
            let published = try await apple.control("keys/rotate")["published"]?.elements
            let began = ContinuousClock.now
            var waiting = zip(flows, reasons).filter { $0.1 == nil }.map(\.0)
            while !waiting.isEmpty {
                for flow in waiting {
                    found[flow] = try await tryNewKey(flow, since: began)
                }
                waiting.removeAll { found[$0] != nil }
                if !waiting.isEmpty { try await Task.sleep(for: .seconds(2)) }
            }
            // The other checks need sign-ins that succeed.
            if found.values.contains(where: \.isWrong), let previous = published?.dropLast().last {
                _ = try await apple.control("keys/rotate", ["signing": previous])
            }
        }
        for (flow, reason) in zip(flows, reasons) {
            try await check("T71", flow, skip: reason) { found[flow].map { [$0] } ?? [] }
        }
    }

    /// The result of one sign-in under a new key; nil if it is refused, and there is time left.
    private func tryNewKey(
        _ flow: Flow, since began: ContinuousClock.Instant
    ) async throws -> CheckResult.Variant? {
        let attempt = try await signIn(flow, newUser(), for: "T71: a new key")
        let waited = ContinuousClock.now - began
        guard attempt.isSignedIn || waited > .seconds(90) else { return nil }
        return CheckResult.Variant(
            comment: "a good token under a new key",
            outcome: attempt.isSignedIn
                ? "accepted after \(waited.components.seconds) seconds" : "refused for 90 seconds",
            status: attempt.status, isWrong: !attempt.isSignedIn)
    }
}

extension CheckResult.Variant {
    /// A token that must be refused, or that may be.
    static func answer(
        to token: BadToken, _ attempt: Attempt, _ place: String = ""
    ) -> Self {
        let isCheck = Catalogue.check(token.id)?.vector == token.result
        let isFree = token.result == .acceptable && !isCheck
        return Self(
            comment: token.comment + place,
            outcome: attempt.outcome + (attempt.isSignedIn ? place : ""),
            status: attempt.status, isWrong: attempt.isSignedIn && !isFree)
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
