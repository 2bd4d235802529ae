import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// One switch, and what a client sees in its two positions.
struct SwitchCase: Sendable, CustomTestStringConvertible {
    let name: String
    let value: JSON
    let standard: String
    let turned: String
    /// What a client does; answers what it sees.
    let act: @Sendable (EmulatorHarness) async throws -> String

    init(
        _ name: String, _ value: JSON, _ standard: String, _ turned: String,
        _ act: @escaping @Sendable (EmulatorHarness) async throws -> String
    ) {
        (self.name, self.value) = (name, value)
        (self.standard, self.turned) = (standard, turned)
        self.act = act
    }

    var testDescription: String { "\(name) \(value.text)" }
}

extension SwitchCase {
    static let all = secrets + requests + grants + refreshes + revocations + pages + transfers

    private static let expired = "The code has expired or has been revoked."
    private static let dead = "invalid_grant The token has expired or has been revoked."

    private static let secrets = [
        SwitchCase("fractional_times", "refused", "200", "invalid_client") { harness in
            let time = JSON.number("\(EmulatorHarness.start.seconds + 300).75")
            return try await harness.grant { $0.claim("exp", time) }
        },
        SwitchCase("missing_iat", "accepted", "invalid_client", "200") { harness in
            try await harness.grant { $0.claim("iat", nil) }
        },
        SwitchCase("secret_clock", "real", "invalid_client", "200") { harness in
            try await harness.control("clock", ["offset": "1d"])
            return try await harness.grant { _ in }
        },
        SwitchCase("order", "malformed_first", "invalid_grant \(expired)", "invalid_client") {
            try await $0.badSecret(code: "c" + String(repeating: "0", count: 32) + ".0.mnp.x")
        },
        SwitchCase(
            "order", "malformed_first", "invalid_grant \(expired)", "invalid_grant \(expired)"
        ) { try await $0.badSecret(code: "dummy") },
        SwitchCase(
            "order", "grant_first", "invalid_client",
            "invalid_grant The code has already been used."
        ) { harness in
            let code = try await harness.code()
            _ = try await harness.exchange(code)
            return try await harness.badSecret(code: code)
        },
    ]

    private static let requests = [
        SwitchCase("missing_client_secret", "invalid_request", "invalid_client", "invalid_request")
        {
            await $0.ask(
                "grant_type=authorization_code&code=x&client_id=com.example.app")
        },
        SwitchCase(
            "missing_grant_type", "unsupported_grant_type", "invalid_request",
            "unsupported_grant_type"
        ) { await $0.ask("client_id=x") },
        SwitchCase("missing_code", "invalid_grant", "invalid_request", "invalid_grant") {
            await $0.ask("grant_type=authorization_code&client_id=x&client_secret=y")
        },
        SwitchCase(
            "unknown_grant_type", "invalid_request", "unsupported_grant_type", "invalid_request"
        ) { await $0.ask("grant_type=password") },
        SwitchCase(
            "repeated_parameter", "accepted", "invalid_request", "unsupported_grant_type"
        ) { await $0.ask("grant_type=a&grant_type=authorization_code") },
        SwitchCase("missing_user_agent", "refused", "200", "403") { harness in
            await harness.see(EmulatorRequest(method: "GET", target: "/auth/keys"))
        },
        SwitchCase("head_requests", "refused", "200", "405") { harness in
            await harness.see(EmulatorRequest(method: "HEAD", target: "/auth/keys"))
        },
        SwitchCase("head_requests", "refused", "405", "405") { harness in
            await harness.see(EmulatorRequest(method: "HEAD", target: "/auth/token"))
        },
        SwitchCase("wrong_method", "invalid_request", "405", "invalid_request") { harness in
            await harness.see(EmulatorRequest(method: "GET", target: "/auth/token"))
        },
        SwitchCase("keys_max_age", 900, "none", "max-age=900") { await $0.cachePolicyOfKeys() },
        SwitchCase("keys_no_store", true, "none", "no-store") { await $0.cachePolicyOfKeys() },
    ]

    private static let grants = [
        SwitchCase("pkce_failure", "invalid_request", "invalid_grant", "invalid_request") {
            harness in
            let challenge = JSON.Member("code_challenge", "x")
            return try await harness.exchange(
                try await harness.code(EmulatorHarness.app, [challenge])
            ).words
        },
        SwitchCase("refresh_token_lifetime", "10d", "200", dead) { harness in
            let token = try await harness.session().text("refresh_token")
            return try await harness.refresh(token, after: "10d").words
        },
        SwitchCase("refresh_token_lifetime", "10d", "200", "200") { harness in
            let token = try await harness.session().text("refresh_token")
            _ = try await harness.refresh(token, after: "9d")
            return try await harness.refresh(token, after: "18d").words
        },
        SwitchCase(
            "token_issuer", "https://account.apple.com", "https://appleid.apple.com",
            "https://account.apple.com"
        ) { harness in
            let session = try await harness.session()
            return try await harness.verified(session["id_token"]?.string).payload.text("iss")
        },
        SwitchCase(
            "relay_domain", "private.icloud.com", "privaterelay.appleid.com", "private.icloud.com"
        ) { harness in
            let form = try await harness.callback(email: "hide", ["response_type": "code id_token"])
            let claims = try await harness.verified(form["id_token"]).payload
            #expect(claims["is_private_email"] == true)
            let address = try claims.text("email").split(separator: "@")
            #expect(address[0].wholeMatch(of: /[a-z0-9]{10}/) != nil)
            return String(address[1])
        },
    ]

    private static let refreshes = [
        SwitchCase("refresh_auth_time", "refresh", "0", "60") {
            try await $0.refreshed("auth_time")
        },
        SwitchCase("refresh_auth_time", "absent", "0", "none") {
            try await $0.refreshed("auth_time")
        },
        SwitchCase("refresh_real_user_status", true, "none", "2") {
            try await $0.refreshed("real_user_status")
        },
    ]

    private static let revocations = [
        SwitchCase(
            "revoke_content_type", "application/json", "none", "application/json;charset=UTF-8"
        ) { harness in
            let answer = try await harness.revoke("x")
            #expect(answer.status == 200 && answer.body.isEmpty)
            return answer.fields["content-type"] ?? "none"
        },
        SwitchCase("revoke_missing_token", "ignored", "invalid_request", "200") { harness in
            try await harness.revoke("").words
        },
        SwitchCase("revoke_takes_code", true, "200", "invalid_grant \(expired)") { harness in
            let code = try await harness.code()
            _ = try await harness.revoke(code)
            return try await harness.exchange(code).words
        },
        SwitchCase("revoke_scope", "group", "200", dead) { harness in
            let website = try await harness.session(EmulatorHarness.web).text("refresh_token")
            _ = try await harness.revoke(try await harness.session().text("refresh_token"))
            return try await harness.refresh(website, as: EmulatorHarness.web).words
        },
    ]

    private static let pages = [
        SwitchCase(
            "unregistered_redirect", "unauthorized_client", "invalid_request",
            "unauthorized_client"
        ) { await $0.page(["redirect_uri": "https://example.com/other"]) },
        SwitchCase(
            "unregistered_redirect", "unauthorized_client", "invalid_request",
            "unauthorized_client"
        ) { await $0.page(["redirect_uri": nil]) },
        SwitchCase(
            "authorize_texts", "until_2023", "Invalid client id or web redirect url.",
            "Invalid web redirect url"
        ) { harness in
            let page = await harness.visit(["redirect_uri": "https://example.com/other"])
            return try #require(
                page.text.firstMatch(of: /What Apple says<\/h2><p>([^<]*)/)
            ).output.1.description
        },
        SwitchCase("unknown_scope", "invalid_request", "invalid_scope", "invalid_request") {
            await $0.page(["scope": "phone"])
        },
        SwitchCase("unknown_scope", "ignored", "invalid_scope", "200") {
            await $0.page(["scope": "phone"])
        },
        SwitchCase("scope_plus", "refused", "200", "invalid_scope") { harness in
            let query =
                "client_id=com.example.web&redirect_uri=https%3A%2F%2Fexample.com%2Fcallback"
                + "&response_type=code&response_mode=form_post&scope=name+email"
            let page = await harness.get("/auth/authorize?" + query)
            if page.status == 200 { #expect(page.text.contains("asks for name and email.")) }
            return page.heading
        },
        SwitchCase("later_email", "asked", "none", "alice@example.com true") { harness in
            _ = try await harness.callback(scope: "openid")
            let form = try await harness.callback(["response_type": "code id_token"])
            let claims = try await harness.verified(form["id_token"]).payload
            let isIntroduced = form["user"]?.contains("alice@example.com") == true
            return (claims["email"]?.string ?? "none") + (isIntroduced ? " true" : "")
        },
        SwitchCase("web_message", "refused", "200", "invalid_request") {
            await $0.page(["response_mode": "web_message", "scope": "name"])
        },
    ]

    private static let transfers = [
        SwitchCase("team_token", "in_window", "200", "unauthorized_client") { harness in
            try await harness.grant { _ in }
        },
        SwitchCase("transferred_tokens", "refused", "200", dead) { harness in
            let token = try await harness.session().text("refresh_token")
            try await harness.control("transfer")
            let secret = try SecretDraft(
                EmulatorHarness.app, of: EmulatorHarness.recipient,
                under: EmulatorHarness.recipientsKeyID, at: EmulatorHarness.start
            ).minted(by: harness.key)
            return try await harness.token([
                ("grant_type", "refresh_token"), ("refresh_token", token),
                ("client_secret", secret),
            ]).words
        },
    ]
}

// What clients do, and what they see of the answer: the status or the error.
extension EmulatorHarness {
    /// Asks for a team's token with a secret that `change` changed.
    fileprivate func grant(_ change: (inout SecretDraft) -> Void) async throws -> String {
        var draft = SecretDraft()
        change(&draft)
        return try await token([
            ("client_secret", try draft.minted(by: key)), ("grant_type", "client_credentials"),
            ("scope", "user.migration"),
        ]).words
    }

    fileprivate func badSecret(code: String) async throws -> String {
        try await token([
            ("grant_type", "authorization_code"), ("code", code), ("client_secret", "bad"),
        ]).words
    }

    fileprivate func ask(_ body: String) async -> String {
        await post("/auth/token", body: Array(body.utf8)).words
    }

    fileprivate func see(_ request: EmulatorRequest) async -> String {
        await emulator.respond(to: request).response.words
    }

    fileprivate func refresh(_ token: String, after offset: String) async throws -> Outcome {
        try await control("clock", ["offset": .string(offset)])
        try await control("switches", ["secret_clock": "real"])
        return try await refresh(token)
    }

    /// A claim of an identity token that was refreshed a minute after the sign-in.
    fileprivate func refreshed(_ claim: String) async throws -> String {
        let token = try await session().text("refresh_token")
        let refreshed = try await refresh(token, after: "1m")
        let claims = try await verified(try refreshed.text("id_token")).payload
        guard let value = claims[claim]?.integer else { return "none" }
        return String(claim == "auth_time" ? value - EmulatorHarness.start.seconds : value)
    }

    fileprivate func revoke(_ token: String) async throws -> HTTPResponse {
        await post(
            "/auth/revoke",
            [("client_id", Self.app), ("client_secret", try secret()), ("token", token)])
    }

    fileprivate func cachePolicyOfKeys() async -> String {
        await get("/auth/keys").fields["cache-control"] ?? "none"
    }

    fileprivate func page(_ changes: [String: String?]) async -> String {
        await visit(changes).heading
    }
}

extension Outcome {
    /// The error with its description, or the status.
    fileprivate var words: String {
        guard let error = body["error"]?.string else { return String(status) }
        return ([error] + (body["error_description"]?.string.map { [$0] } ?? []))
            .joined(separator: " ")
    }
}

extension HTTPResponse {
    fileprivate var words: String { Outcome(self).words }

    /// The error that a page has for its heading, or the status.
    fileprivate var heading: String {
        guard status != 200 else { return "200" }
        return text.firstMatch(of: /<h1>([^<]*)<\/h1>/).map { String($0.output.1) } ?? words
    }
}
