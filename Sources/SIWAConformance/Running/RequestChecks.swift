internal import SIWAJOSE

// R: what a request claims besides its token. C: codes.
extension ConformRun {
    func checkRequests(_ flow: Flow) async throws {
        guard flow == .native else { return }
        try await checkAudienceInBody()
        let needsAccount = file.whoami == nil ? "the file has no 'whoami'" : nil
        try await checkIdentityInBody(
            "R02", Catalogue.userIDMembers, template: "sub", skip: needsAccount
        ) { $0.subject }
        try await checkIdentityInBody(
            "R03", ["email"], template: "email", skip: needsAccount
        ) { $0.email }
        try await checkIdentityInBody(
            "R04", ["email"], template: "email", token: Self.withoutEmail, skip: needsAccount
        ) { $0.email }
        try await checkPasswordAccount(skip: needsAccount)
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

    /// Sends a token of one user, and names another one, the victim, beside it.
    ///
    /// - Parameters:
    ///   - names: the usual names of the member, which are added.
    ///   - template: what the file writes where its own member for it is.
    private func checkIdentityInBody(
        _ id: String, _ names: [String], template: String, token: BadToken? = nil, skip: String?,
        _ identity: (TestUser) -> String
    ) async throws {
        try await check(id, .native, skip: skip) {
            let victim = try await newUser()
            let account = try await signIn(.native, victim, for: "the good sign-in").account
            guard let account else { return [] }
            var variants: [CheckResult.Variant] = []
            let claim = JSON.string(identity(victim))
            var deviations = names.map {
                ($0, Deviation(token: token, extra: [JSON.Member($0, claim)]))
            }
            if file.signIn?.steps.contains(where: { $0.uses(template) }) ?? false {
                deviations.append(
                    ("{{\(template)}}", Deviation(token: token, foreign: [template: claim])))
            }
            for (name, deviation) in deviations {
                let attempt = try await signIn(
                    .native, newUser(), deviation, for: "\(id): \(name)")
                variants.append(
                    CheckResult.Variant(
                        comment: "\(name) of another user in the body", outcome: attempt.outcome,
                        status: attempt.status, isWrong: attempt.account == account))
            }
            return variants
        }
    }

    func checkCodes(_ flow: Flow) async throws {
        let reason = exchanges[flow] == true ? nil : "the good sign-in exchanges no code"
        for id in ["C01"] {
            try await check(id, flow, skip: reason) { try await exchangeCounts(flow) }
        }
        try await checkReplay(
            flow, "C02", isAdvice: channels[flow] == .request, skip: reason)
        try await checkAddresses(flow, skip: reason)
        try await check("C03", flow, skip: reason) {
            let good = try await signIn(flow, newUser(), for: "the good sign-in")
            let isLeaked = Self.hasRefreshToken(String(decoding: good.body, as: UTF8.self))
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
    private func checkAddresses(_ flow: Flow, skip reason: String?) async throws {
        try await check("C04", flow, skip: reason) {
            let before = try await latestRequest()
            let good = try await signIn(flow, newUser(), for: "the good sign-in")
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
        let faults: [(String, JSON)] = [
            ("the answer is a 500", ["endpoint": "/auth/token", "status": 500, "process": true]),
            ("the answer is lost", ["endpoint": "/auth/token", "cut": "no_answer"]),
        ]
        var variants: [CheckResult.Variant] = []
        for (comment, fault) in faults {
            _ = try await apple.control("faults", fault)
            let before = try await latestRequest()
            // A failed exchange may well be a 5xx of the backend: it is no fault of its manners.
            let kept = manners
            _ = try await signIn(flow, newUser(), for: "C01")
            manners = kept
            _ = try await apple.control("faults/clear")
            let codes = try await requests(after: before, "/auth/token").compactMap {
                $0["fingerprints"]?["code"]?.string
            }
            let most = Dictionary(grouping: codes, by: { $0 }).values.map(\.count).max() ?? 0
            variants.append(
                CheckResult.Variant(
                    comment: comment, outcome: "exchanged \(most) times", status: nil,
                    isWrong: most > 1))
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
