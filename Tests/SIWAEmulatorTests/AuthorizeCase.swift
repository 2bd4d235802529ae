import Testing

/// A request to `/auth/authorize`, and what is wrong with it.
struct AuthorizeCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What differs from a request Apple accepts; nil takes a parameter away.
    var changes: [String: String?] = [:]
    var switches: Bool = false
    /// Nil when the page to choose on is shown.
    var error: String?
    /// The sentence Apple's page shows besides.
    var description: String?
    /// What the emulator says besides.
    var verdict = "ok: asks who signs in"
}

extension AuthorizeCase {
    private static let invalidRedirect = "Invalid client id or web redirect url."

    static let all = clients + redirects + loopback + responses + scopes + challenges

    private static let clients = [
        AuthorizeCase(testDescription: "nothing wrong"),
        AuthorizeCase(
            testDescription: "no client", changes: ["client_id": nil], error: "invalid_request",
            verdict: "client_id: missing or empty"),
        AuthorizeCase(
            testDescription: "an unknown client", changes: ["client_id": "com.example.unknown"],
            error: "invalid_client", description: "Invalid client.",
            verdict: "client_id: no client of team A1B2C3D4E5"),
        AuthorizeCase(
            testDescription: "an App ID in place of a Services ID",
            changes: ["client_id": EmulatorHarness.app],
            error: "invalid_request", description: Self.invalidRedirect,
            verdict: "client_id: com.example.app is an App ID; the web needs a Services ID"),
    ]

    private static func redirect(
        _ testDescription: String, _ address: String, _ fault: String, switches: Bool = false
    ) -> AuthorizeCase {
        AuthorizeCase(
            testDescription: testDescription, changes: ["redirect_uri": address],
            switches: switches, error: "invalid_request", description: Self.invalidRedirect,
            verdict: "redirect_uri: \(fault)")
    }

    private static func unregistered(
        _ testDescription: String, _ address: String, switches: Bool = false
    ) -> AuthorizeCase {
        AuthorizeCase(
            testDescription: testDescription, changes: ["redirect_uri": address],
            switches: switches, error: "invalid_request", description: Self.invalidRedirect,
            verdict: "redirect_uri: '\(address)' is not registered for com.example.web")
    }

    private static let noName = "must have a domain name, no IP address"
    private static let ownMachine =
        "is on this machine, which only the switch allow_loopback_redirect allows"

    private static let redirects = [
        AuthorizeCase(
            testDescription: "no redirect", changes: ["redirect_uri": nil],
            error: "invalid_request", description: Self.invalidRedirect,
            verdict: "redirect_uri: missing or empty"),
        unregistered("another path", "https://example.com/other"),
        unregistered("a slash more", "https://example.com/callback/"),
        unregistered("a port more", "https://example.com:443/callback"),
        unregistered("a query more", "https://example.com/callback?x=y"),
        unregistered("another host", "https://example.com.evil.example/callback"),
        unregistered("in capitals", "https://EXAMPLE.com/callback"),
        redirect("plain http", "http://example.com/callback", "must begin with https://"),
        redirect("a scheme of its own", "com.example.app:/callback", "is not an http or https URL"),
        redirect("no URL", "example.com/callback", "is not an http or https URL"),
        redirect("a fragment", "https://example.com/callback#x", "has a fragment"),
        redirect("an empty fragment", "https://example.com/callback#", "has a fragment"),
        redirect("localhost", "https://localhost/callback", ownMachine),
        redirect("a registered loopback", EmulatorHarness.loopback, ownMachine),
        redirect("this machine by IPv6", "https://[::1]/callback", ownMachine),
        redirect("localhost below", "https://app.localhost/callback", noName),
        redirect("an IPv4 address", "https://192.0.2.1/callback", noName),
        redirect("an IPv4 address in two parts", "https://192.513/callback", noName),
        redirect("an IPv6 address", "https://[2001:db8::1]/callback", noName),
        redirect("an IPv6 address with dots", "https://[::ffff:192.0.2.a]/callback", noName),
        redirect("a name without a domain", "https://intranet/callback", noName),
        redirect("a user name", "https://example.com@evil.example/", "is not an http or https URL"),
        redirect(
            "a backslash", #"https://evil.example\.example.com/"#, "is not an http or https URL"),
        redirect("a line break", "https://example.com/\r\nX: y", "is not an http or https URL"),
        redirect("no port", "https://example.com:x/callback", "is not an http or https URL"),
    ]

    private static let loopback = [
        AuthorizeCase(
            testDescription: "a registered loopback, when the switch says so",
            changes: ["redirect_uri": EmulatorHarness.loopback], switches: true),
        unregistered("another port of it", "http://127.0.0.1:8001/callback", switches: true),
        redirect(
            "plain http to elsewhere", "http://example.com/callback", "must begin with https://",
            switches: true),
        redirect(
            "a name that begins well", "http://127.0.0.1.evil.example/callback",
            "must begin with https://", switches: true),
        redirect("another IPv4 address", "https://192.0.2.1/callback", noName, switches: true),
    ]

    private static let responses = [
        AuthorizeCase(
            testDescription: "no response type", changes: ["response_type": nil],
            error: "invalid_request", verdict: "response_type: missing or empty"),
        AuthorizeCase(
            testDescription: "id_token alone", changes: ["response_type": "id_token"],
            error: "invalid_request",
            verdict: "response_type: 'id_token' is not one of 'code', 'code id_token'"),
        AuthorizeCase(
            testDescription: "code and id_token", changes: ["response_type": "code id_token"]),
        AuthorizeCase(
            testDescription: "id_token in a query",
            changes: ["response_type": "code id_token", "response_mode": "query"],
            error: "invalid_request",
            verdict: "response_mode: must be fragment or form_post with id_token, is query"),
        AuthorizeCase(
            testDescription: "a mode of Apple's own scripts",
            changes: ["response_mode": "web_message", "scope": "name email"]),
        AuthorizeCase(
            testDescription: "an unknown mode", changes: ["response_mode": "post"],
            error: "invalid_request",
            verdict: "response_mode: 'post' is not one of 'query', 'fragment', 'form_post', "
                + "'web_message'"),
        AuthorizeCase(testDescription: "a query", changes: ["response_mode": "query"]),
        AuthorizeCase(testDescription: "a fragment", changes: ["response_mode": "fragment"]),
        AuthorizeCase(testDescription: "form_post", changes: ["response_mode": "form_post"]),
    ]

    private static func scope(
        _ testDescription: String, _ scope: String, _ mode: String? = nil,
        found: String
    ) -> AuthorizeCase {
        AuthorizeCase(
            testDescription: testDescription, changes: ["scope": scope, "response_mode": mode],
            error: "invalid_request",
            description: "response_mode must be form_post when name or email scope is requested.",
            verdict: "response_mode: must be form_post with name or email, is \(found)")
    }

    private static let scopes = [
        scope("a scope, no mode", "email", found: "query"),
        scope("a scope in a query", "name", "query", found: "query"),
        scope("a scope in a fragment", "name email", "fragment", found: "fragment"),
        scope("openid beside a scope in a query", "openid email", found: "query"),
        AuthorizeCase(testDescription: "openid, no mode", changes: ["scope": "openid"]),
        AuthorizeCase(
            testDescription: "openid in a query",
            changes: ["scope": "openid", "response_mode": "query"]),
        AuthorizeCase(
            testDescription: "openid in a fragment",
            changes: [
                "scope": "openid", "response_mode": "fragment", "response_type": "code id_token",
            ]),
        AuthorizeCase(
            testDescription: "all scopes",
            changes: ["scope": "openid name  email", "response_mode": "form_post"]),
        AuthorizeCase(testDescription: "an empty scope", changes: ["scope": ""]),
        AuthorizeCase(
            testDescription: "an unknown scope",
            changes: ["scope": "email profile", "response_mode": "form_post"],
            error: "invalid_scope",
            verdict: "scope: 'profile' is not one of 'name', 'email', 'openid'"),
        AuthorizeCase(
            testDescription: "scopes between commas",
            changes: ["scope": "name,email", "response_mode": "form_post"],
            error: "invalid_scope",
            verdict: "scope: 'name,email' is not one of 'name', 'email', 'openid'"),
    ]

    private static let challenges = [
        AuthorizeCase(
            testDescription: "S256",
            changes: ["code_challenge": "x", "code_challenge_method": "S256"]),
        AuthorizeCase(testDescription: "plain by default", changes: ["code_challenge": "x"]),
        AuthorizeCase(
            testDescription: "a method alone", changes: ["code_challenge_method": "S256"],
            error: "invalid_request",
            verdict: "code_challenge: missing, though there is a method"),
        AuthorizeCase(
            testDescription: "an unknown method",
            changes: ["code_challenge": "x", "code_challenge_method": "s256"],
            error: "invalid_request",
            verdict: "code_challenge_method: 's256' is not one of 'plain', 'S256'"),
    ]
}
