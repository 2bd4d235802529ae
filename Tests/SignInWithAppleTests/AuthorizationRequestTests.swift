import SIWALifecycle
import Testing

/// `/auth/authorize`, up to the URL.
@Suite struct AuthorizationRequestTests {
    private static let client = ClientID(unchecked: "com.example.web")

    private func request(
        _ type: AuthorizationRequest.ResponseType = .code,
        _ mode: AuthorizationRequest.ResponseMode? = nil,
        _ scopes: Set<AuthorizationRequest.Scope> = []
    ) throws -> AuthorizationRequest {
        try AuthorizationRequest(
            clientID: Self.client,
            redirectURI: RedirectURI(validating: "https://example.com/callback"),
            responseType: type, responseMode: mode, scopes: scopes)
    }

    @Test func `without a response mode, the response is readable by a server`() throws {
        #expect(try request().responseMode == .query)
        #expect(try request(.codeAndIdentityToken).responseMode == .formPost)
        #expect(try request(.code, nil, [.email]).responseMode == .formPost)
        #expect(try request(.code, nil, [.openid]).responseMode == .query)
        #expect(try request(.code, nil, [.openid, .name]).responseMode == .formPost)
    }

    @Test(arguments: AuthorizationRequest.ResponseMode.allCases)
    func `name and email require form_post`(_ mode: AuthorizationRequest.ResponseMode) throws {
        for scopes: Set<AuthorizationRequest.Scope> in [[.name], [.email], [.openid, .email]] {
            let attempt = Result { try request(.code, mode, scopes) }
            if mode == .formPost {
                #expect(try attempt.get().scopes == scopes)
            } else {
                #expect(throws: AuthorizationRequestError.scopesNeedFormPost) {
                    try attempt.get()
                }
            }
        }
        #expect(try request(.code, mode, [.openid]).responseMode == mode)
    }

    @Test func `an identity token is never requested in a query`() throws {
        #expect(throws: AuthorizationRequestError.identityTokenInQuery) {
            try request(.codeAndIdentityToken, .query)
        }
        #expect(try request(.codeAndIdentityToken, .fragment).responseMode == .fragment)
    }

    @Test func `the URL is strictly percent-encoded, with scopes in a fixed order`() throws {
        let request = try AuthorizationRequest(
            clientID: Self.client, redirectURI: RedirectURI(validating: "https://example.com/"),
            scopes: [.email, .name], state: SecretText("a b+c~é"), nonce: SecretText("n"),
            codeChallenge: CodeChallenge(
                validating: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"))
        let base = try BaseURL(validating: "http://127.0.0.1:9500")
        #expect(
            request.url(at: base).revealed()
                == "http://127.0.0.1:9500/auth/authorize?client_id=com.example.web"
                + "&redirect_uri=https%3A%2F%2Fexample.com%2F&response_type=code"
                + "&response_mode=form_post&scope=name%20email&state=a%20b%2Bc~%C3%A9&nonce=n"
                + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
                + "&code_challenge_method=S256")
        #expect(request.url().revealed().hasPrefix("https://appleid.apple.com/auth/authorize?"))
    }

    static let challenges: [Row<(String, CodeChallengeError)>] = [
        Row("nothing", ("", .shape)),
        Row("padded", ("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=", .shape)),
        Row("base64", ("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM", .shape)),
        Row("a character short", ("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c", .shape)),
        Row("one too many", ("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cMA", .verifier)),
        Row("stray bits", ("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cN", .verifier)),
        Row("with a tilde", (String(repeating: "~", count: 128), .verifier)),
        Row("longer than any verifier", (String(repeating: "a", count: 129), .shape)),
    ]

    @Test(arguments: challenges)
    func `an invalid code challenge is refused`(_ row: Row<(String, CodeChallengeError)>) {
        #expect(throws: row.value.1) { try CodeChallenge(validating: row.value.0) }
    }
}

/// Apple's rules on redirect URIs.
@Suite struct RedirectURITests {
    static let good = [
        "https://example.com", "https://example.com/", "https://example.com/callback?a=b&c",
        "https://EXAMPLE.com:8443/Callback", "https://a-b.xn--bcher-kva.example/%20",
        "https://1.2.3.4.example/", "https://127.0.0.1.nip.io/", "https://example.com:65535",
        "https://localhost.example.com/", "https://0xyz.example.x0", "https://example.com?q",
    ]

    @Test(arguments: good) func `a valid redirect URI is kept unchanged`(_ text: String) throws {
        #expect(try RedirectURI(validating: text).description == text)
    }

    static let bad: [Row<(String, RedirectURIError)>] = [
        Row("nothing", ("", .scheme)), Row("plain http", ("http://example.com/", .scheme)),
        Row("the scheme of an app", ("com.example.app:/callback", .scheme)),
        Row("no scheme", ("example.com/callback", .scheme)),
        Row("one slash", ("https:/example.com", .scheme)),
        Row("a space", ("https://example.com/a b", .character)),
        Row("a line feed", ("https://example.com/\n", .character)),
        Row("a backslash", (#"https://evil.example\.example.com/"#, .character)),
        Row("a letter beyond ASCII", ("https://bücher.example/", .character)),
        Row("a fragment", ("https://example.com/#a", .fragment)),
        Row("an empty fragment", ("https://example.com/#", .fragment)),
        Row("a user", ("https://me@example.com/", .user)),
        Row("a user and a password", ("https://me:x@example.com/", .user)),
        Row("an IPv4 address", ("https://192.0.2.1/", .address)),
        Row("an IPv4 address and a dot", ("https://192.0.2.1./", .address)),
        Row("an IPv4 address with a port", ("https://192.0.2.1:443/", .address)),
        Row("an address of two parts", ("https://127.1/", .address)),
        Row("a decimal address", ("https://2130706433/", .address)),
        Row("a hexadecimal address", ("https://0x7F000001/", .address)),
        Row("hexadecimal parts", ("https://0x7f.0x0.0x0.0x1", .address)),
        Row("an octal address", ("https://0177.0.0.01/", .address)),
        Row("0x alone", ("https://0x/", .address)),
        Row("a name that ends in a number", ("https://example.1/", .address)),
        Row("an IPv6 address", ("https://[2001:db8::1]/", .address)),
        Row("IPv6 loopback", ("https://[::1]:443/", .address)),
        Row("localhost", ("https://localhost/", .localhost)),
        Row("LOCALHOST", ("https://LOCALHOST:3000/", .localhost)),
        Row("localhost and a dot", ("https://localhost./", .localhost)),
        Row("below localhost", ("https://app.localhost/", .localhost)),
        Row("no host", ("https:///callback", .domainName)),
        Row("a port alone", ("https://:443/", .domainName)),
        Row("a query alone", ("https://?a", .domainName)),
        Row("a name without a domain", ("https://intranet/", .domainName)),
        Row("a dot at the end", ("https://example.com./", .domainName)),
        Row("two dots", ("https://example..com/", .domainName)),
        Row("a dot in front", ("https://.example.com/", .domainName)),
        Row("an underscore", ("https://a_b.example.com/", .domainName)),
        Row("a hyphen in front", ("https://-a.example.com/", .domainName)),
        Row("a percent sign", ("https://example%2ecom.example/", .domainName)),
        Row("a long label", ("https://\(String(repeating: "a", count: 64)).com/", .domainName)),
        Row(
            "a long name",
            ("https://\(String(repeating: "a.", count: 126))com/", .domainName)),
        Row("no port", ("https://example.com:/", .port)),
        Row("port 0", ("https://example.com:0/", .port)),
        Row("port 65536", ("https://example.com:65536/", .port)),
        Row("a signed port", ("https://example.com:+443/", .port)),
        Row("two ports", ("https://example.com:443:443/", .port)),
    ]

    @Test(arguments: bad) func `an invalid redirect URI is refused`(
        _ row: Row<(String, RedirectURIError)>
    ) {
        #expect(throws: row.value.1) { try RedirectURI(validating: row.value.0) }
    }
}
