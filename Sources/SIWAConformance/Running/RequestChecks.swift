internal import SIWAJOSE

// R: what a request claims besides its token. C: codes.
extension ConformRun {
    func checkRequests(_ flow: Flow) async throws {
        let needsAccount: CheckResult.Skip? =
            file.whoami == nil ? .missing("the file has no 'whoami'") : nil
        if flow == .native {
            try await checkAudienceInBody()
            try await checkVictim("R02", flow, skip: needsAccount, Self.idInBody)
        }
        try await checkVictim("R03", flow, skip: needsAccount) { run, victim in
            run.addressInRequest(flow, victim) + run.forgedAddress(flow, victim)
        }
        try await checkVictim("R04", flow, skip: needsAccount) { run, victim in
            run.addressInRequest(flow, victim, token: Self.withoutEmail)
        }
        try await checkPasswordAccount(flow, skip: needsAccount)
        if flow == .native { try await checkMixedUsers("R06", flow) }
        try await checkCodeNotSent(flow)
    }

    private static let withoutEmail = BadToken.claims("R04", "no email") { _ in
        [("email", nil), ("email_verified", nil)]
    }

    private func checkAudienceInBody() async throws {
        let names = ["client_id", "clientId", "audience", "aud", "bundle_id"]
        try await check("R01", .native) {
            var variants: [CheckResult.Variant] = []
            for name in options.isExhaustive ? names.map({ [$0] }) : [names] {
                let attacker = BadToken.claims("R01", "the attacker's") { _ in
                    [("aud", "com.attacker.app")]
                }
                let attempt = try await signIn(
                    .native, newUser(),
                    Deviation(
                        token: attacker,
                        extra: name.map { JSON.Member($0, "com.attacker.app") }),
                    for: "R01")
                variants.append(.refusal("\(name.joined(separator: ", ")) in the body", attempt))
            }
            return variants
        }
    }

    /// R06, W04: the identity token of one user, and the code of another one.
    func checkMixedUsers(_ id: String, _ flow: Flow) async throws {
        let reason: CheckResult.Skip? =
            exchanges[flow] != true
            ? .pointless("no code is exchanged")
            : channels[flow] == .exchange ? .pointless("the posted token is ignored") : nil
        try await check(id, flow, skip: reason) {
            let victim = try await newUser()
            let attempt = try await signIn(flow, newUser(), Deviation(tokenUser: victim), for: id)
            return [.refusal("the identity token of another user than the code's", attempt)]
        }
    }

    /// R07: a forged token, without the code that would show who signs in.
    private func checkCodeNotSent(_ flow: Flow) async throws {
        let isOptional =
            flow == .web
            ? postsToken
            : ["id_token", "code"].allSatisfy { name in
                file.signIn?.steps.contains { $0.uses(name) } ?? false
            }
        let forged = BadToken.text("R07", "signed by an own key") { good, _ in try good.forged() }
        try await check(
            "R07", flow,
            skip: isOptional ? nil : .pointless("the request has not both, a token and a code")
        ) {
            let attempt = try await signIn(
                flow, newUser(),
                Deviation(
                    token: forged, omitted: ["code"], channel: .request,
                    callback: { $0.filter { $0.0 != "code" } }), for: "R07")
            return [.refusal("a forged token, and no code", attempt)]
        }
    }

    /// A way to name another user beside the token.
    private typealias Naming = (comment: String, deviation: Deviation)

    /// Signs in as one user, and names another one, the victim, beside the token.
    private func checkVictim(
        _ id: String, _ flow: Flow, skip: CheckResult.Skip?,
        _ namings: (ConformRun, TestUser) -> [Naming]
    ) async throws {
        try await check(id, flow, skip: skip) {
            let victim = try await newUser()
            guard let account = try await good(flow, victim).account else { return [] }
            var variants: [CheckResult.Variant] = []
            for (comment, deviation) in namings(self, victim) {
                let attempt = try await signIn(
                    flow, newUser(), deviation, for: "\(id): \(comment)")
                let isWrong = attempt.account == account
                variants.append(
                    CheckResult.Variant(
                        comment: comment,
                        outcome: attempt.isSignedIn && !isWrong
                            ? "signed in as the token's own account" : attempt.outcome,
                        status: attempt.status, isWrong: isWrong))
            }
            return variants
        }
    }

    /// The victim's id in the body: under its usual names, and where the file writes `{{sub}}`.
    private static func idInBody(_ run: ConformRun, _ victim: TestUser) -> [Naming] {
        run.members(Catalogue.userIDMembers, ["sub"], .string(victim.subject), token: nil)
    }

    /// The victim's address in the request: in the body of an app, or in Apple's field `user`.
    private func addressInRequest(
        _ flow: Flow, _ victim: TestUser, token: BadToken? = nil
    ) -> [Naming] {
        let introduction = victim.introduction
        guard flow == .native else {
            let deviation = Deviation(
                token: token,
                callback: { $0.filter { $0.0 != "user" } + [("user", introduction.text)] })
            return [("the field 'user' with another user's address", deviation)]
        }
        return members(["email"], ["email"], .string(victim.email), token: token)
            + members(["user"], ["user", "user.email"], introduction, token: token)
    }

    /// Members of the body that name somebody else: added ones, and those of the file's templates.
    private func members(
        _ names: [String], _ templates: [String], _ value: JSON, token: BadToken?
    ) -> [Naming] {
        let isDeep = file.signIn?.steps.contains(where: \.sendsCredentialDeep) ?? false
        let added: [Naming] = (isDeep ? [false, true] : [false]).flatMap { isDeep in
            names.map { name in
                (
                    "'\(name)' of another user \(isDeep ? "beside the credential" : "in the body")",
                    Deviation(
                        token: token, extra: [JSON.Member(name, value)], isDeep: isDeep)
                )
            }
        }
        let used = templates.filter { name in
            file.signIn?.steps.contains { $0.uses(name) } ?? false
        }
        guard let name = used.first else { return added }
        return added + [
            (
                "{{\(name)}} of another user",
                Deviation(token: token, foreign: [templates[0]: value])
            )
        ]
    }

    /// In channel `both`, the victim's address in a posted token that nobody signed: who believes
    /// it verifies the token of the exchange alone.
    private func forgedAddress(_ flow: Flow, _ victim: TestUser) -> [Naming] {
        guard channels[flow] == .both else { return [] }
        let forged = BadToken.text("R03", "another user's address") { good, _ in
            try good.forged(claims: [("email", .string(victim.email)), ("email_verified", true)])
        }
        return [
            (
                "a forged token in the request, with another user's address",
                Deviation(token: forged, channel: .request)
            )
        ]
    }

    func checkCodes(_ flow: Flow) async throws {
        let reason: CheckResult.Skip? =
            exchanges[flow] == true ? nil : .pointless("the good sign-in exchanges no code")
        try await check("C01", flow, skip: reason) { try await exchangeCounts(flow) }
        try await checkReplay(
            flow, "C02",
            adviceReason: channels[flow] == .request
                ? "The identity token says who signs in here, and the code does not." : nil,
            skip: reason)
        try await checkAddresses(flow, skip: reason)
        try await check("C03", flow, skip: reason) {
            let good = try await good(flow, newUser())
            let answer = String(decoding: good.body, as: UTF8.self)
            let isLeaked = ([answer] + good.browser.cookieValues).contains(
                where: Self.hasRefreshToken)
            return [
                CheckResult.Variant(
                    comment: "the answer to a good sign-in",
                    outcome: isLeaked
                        ? "the answer has the refresh token" : "the answer has no refresh token",
                    status: good.status, isWrong: isLeaked)
            ]
        }
    }

    /// C04: nothing secret in the URLs that the backend calls.
    private func checkAddresses(_ flow: Flow, skip reason: CheckResult.Skip?) async throws {
        try await check("C04", flow, skip: reason) {
            let before = try await latestRequest()
            let good = try await good(flow, newUser())
            let secret = ["code", "client_secret", "refresh_token", "code_verifier"]
            let leaks = try await requests(after: before, nil).flatMap { record in
                let isPost = record["method"] == "POST"
                return record[isPost ? "query" : "parameters"]?.elements?.compactMap(\.string) ?? []
            }.filter(secret.contains)
            return [
                CheckResult.Variant(
                    comment: "a good sign-in",
                    outcome: leaks.isEmpty
                        ? "no secret is in a URL"
                        : "\(leaks[0]) is in the URL of a request to Apple",
                    status: good.status, isWrong: !leaks.isEmpty)
            ]
        }
    }

    private func exchangeCounts(_ flow: Flow) async throws -> [CheckResult.Variant] {
        let faults: [(String, JSON?)] = [
            ("a good sign-in", nil),
            ("the answer is a 500", ["endpoint": "/auth/token", "status": 500, "process": true]),
            ("the answer is lost", ["endpoint": "/auth/token", "cut": "no_answer"]),
        ]
        var variants: [CheckResult.Variant] = []
        for (comment, fault) in faults {
            if let fault { _ = try await apple.control("faults", fault) }
            let before = try await latestRequest()
            let kept = manners
            let attempt = try await signIn(flow, newUser(), for: "C01")
            manners = kept.excusing(manners)
            _ = try await apple.control("faults/clear")
            let codes = try await requests(after: before, "/auth/token").compactMap {
                $0["fingerprints"]?["code"]?.string
            }
            let most = Dictionary(grouping: codes, by: { $0 }).values.map(\.count).max() ?? 0
            variants.append(
                CheckResult.Variant(
                    comment: comment,
                    outcome: most == 0 ? "nothing was exchanged" : "exchanged \(most) times",
                    status: most == 0 ? attempt.status : nil, isWrong: most > 1,
                    isOpen: most == 0))
        }
        return variants
    }

    /// Whether a text contains something that has the shape of a refresh token.
    private static func hasRefreshToken(_ text: String) -> Bool {
        text.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) && !"._-".contains($0) }
            .contains { word in
                let parts = word.split(separator: ".")
                return parts.count == 4 && parts[0].count == 33 && parts[0].hasPrefix("r")
            }
    }
}
