import SIWACrypto
import SIWAEmulator
import SIWALifecycle
import SIWATestSupport
import Testing

/// What a browser does: opens the page, and sends its form.
extension EmulatorHarness {
    /// A request that Apple accepts, changed: nil takes a parameter away.
    func visit(
        _ changes: [String: String?] = [:], host: String = "appleid.apple.com"
    ) async -> HTTPResponse {
        var parameters = [
            ("client_id", Self.web), ("redirect_uri", Self.callback), ("response_type", "code"),
        ]
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
            parameters.removeAll { $0.0 == name }
            if let value { parameters.append((name, value)) }
        }
        let query = Form(parameters.map { ($0, .plain($1)) }).encoded().revealed()
        return await get("/auth/authorize?" + String(decoding: query, as: UTF8.self), host: host)
    }

    /// Opens a page as a browser.
    func get(_ target: String, host: String = "appleid.apple.com") async -> HTTPResponse {
        await emulator.respond(
            to: EmulatorRequest(method: "GET", target: target, fields: [HTTPField("Host", host)])
        ).response
    }

    /// Sends the form of a page, changed: nil takes a field away.
    func submit(
        _ page: HTTPResponse, _ changes: [String: String?] = [:]
    ) async throws -> HTTPResponse {
        var form = try #require(HTMLForm(page.body), "\(page.text)")
        form["action"] = "continue"
        for (name, value) in changes { form[name] = value }
        return await post(
            form.action, form.fields.map { ($0.name, $0.value) },
            fields: [HTTPField("Origin", "https://appleid.apple.com")])
    }

    /// What comes back by form_post when `user` signs in, all scopes asked for.
    func callback(
        user: String = "alice", email: String = "share", scope: String = "name email",
        _ changes: [String: String?] = [:]
    ) async throws -> HTMLForm {
        let asked = ["scope": scope, "response_mode": "form_post"]
        let page = await visit(changes.merging(asked) { changed, _ in changed })
        let answer = try await submit(
            page, ["user": user, "email": scope.contains("email") ? email : nil])
        #expect(answer.status == 200)
        let form = try #require(HTMLForm(answer.body), "\(answer.text)")
        #expect(form.action == Self.callback)
        return form
    }
}

extension HTTPResponse {
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }
}
