internal import SIWAEmulator
internal import SIWAJOSE
internal import SIWALifecycle

// A sign-in in a browser.
extension ConformRun {
    func web(
        _ user: TestUser, _ deviation: Deviation, _ browser: inout Browser
    ) async throws -> Attempt {
        guard let rules = file.web, let redirect = WebAddress(rules.redirectURI) else {
            return Attempt(verdict: .refused, status: nil, browser: browser)
        }
        browser.host = redirect.authority
        var values = try values(of: user)
        guard let request = try await authorization(rules.start, &browser, &values) else {
            return Attempt(verdict: .refused, status: nil, browser: browser)
        }
        sendsWebNonce = request["nonce"] != nil
        let nonce = deviation.browser == .fresh ? nil : request["nonce"]
        postsCallback = request["response_mode"] == "form_post"
        postsToken = request["response_type"]?.holds("id_token") == true
        let good = try await issue(
            rules.clientID, user, nonce: nonce,
            others: Self.others(request, isBegunHere: deviation.browser != .fresh))
        let sent = try await deliver(
            deviation, good, rules.clientID, .web, user, nonce: nonce, raw: nonce)
        let credentials =
            deviation.repeated ?? Credentials(code: good.code, idToken: sent, nonce: nonce)
        var parameters = Self.callback(request, credentials, user)
        if let change = deviation.callback { parameters = change(parameters) }
        if deviation.browser != .own {
            browser = Browser(file, transport, timeout: options.timeout)
            browser.host = redirect.authority
        }
        if deviation.browser == .another {
            var others = try self.values(of: user)
            _ = try await authorization(rules.start, &browser, &others)
        }
        let mode = deviation.isLink ? "query" : request["response_mode"]
        var page = try await bring(parameters, mode, redirect, &browser)
        values.known["code"] = .string(credentials.code)
        values.known["id_token"] = .string(credentials.idToken)
        for step in rules.finish { page = try await browser.take(step, &values) }
        var attempt = try await judge(page, rules.signedIn, browser, values)
        attempt.credentials = credentials
        return attempt
    }

    /// The parameters of the request to Apple's page; nil if the backend sends the browser
    /// nowhere.
    private func authorization(
        _ steps: [Step], _ browser: inout Browser, _ values: inout Values
    ) async throws -> [String: String]? {
        for step in steps {
            let page = try await browser.take(step, &values)
            let named = step.authorize.flatMap {
                (try? JSON(page.response.body))?.value(at: $0)?.string
            }
            guard let url = (page.leaving ?? named).flatMap(WebAddress.init),
                url.path == "/auth/authorize"
            else { continue }
            return try? Form.decoded(Array(url.query.utf8))
        }
        return nil
    }

    /// What of the request binds the code.
    private static func others(
        _ request: [String: String], isBegunHere: Bool
    ) -> [JSON.Member] {
        let names =
            ["redirect_uri"] + (isBegunHere ? ["code_challenge", "code_challenge_method"] : [])
        return names.compactMap { name in
            request[name].map { JSON.Member(name, .string($0)) }
        }
    }

    private static func callback(
        _ request: [String: String], _ credentials: Credentials, _ user: TestUser
    ) -> [(String, String)] {
        var parameters = [("code", credentials.code)]
        if request["response_type"]?.holds("id_token") == true {
            parameters.append(("id_token", credentials.idToken))
        }
        if request["scope"]?.isEmpty == false {
            parameters.append(("user", user.introduction.text))
        }
        if let state = request["state"] { parameters.append(("state", state)) }
        return parameters
    }

    /// Brings the parameters to the redirect URI, as Apple's page has the browser do.
    private func bring(
        _ parameters: [(String, String)], _ mode: String?, _ redirect: WebAddress,
        _ browser: inout Browser
    ) async throws -> VisitedPage {
        let form = Browser.form(parameters)
        if mode == "form_post" {
            return try await browser.visit(
                "POST", redirect.target,
                fields: [
                    HTTPField("Content-Type", Form.contentType),
                    HTTPField("Origin", "https://appleid.apple.com"),
                ], body: form, isCrossSite: true)
        }
        let mark = redirect.query.isEmpty ? "?" : "&"
        return try await browser.visit(
            "GET",
            redirect.path + (redirect.query.isEmpty ? "" : "?" + redirect.query) + mark
                + String(decoding: form, as: UTF8.self), isCrossSite: true)
    }
}
