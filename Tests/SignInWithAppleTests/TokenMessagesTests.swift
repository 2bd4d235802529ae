import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// What is asked and what is answered, as values: nothing is sent here.
@Suite struct TokenMessagesTests {
    static let code = AuthorizationCode(SecretText("c.0/1"))
    static let requests: [Row<(TokenRequest, Endpoint, Bool, String)>] = [
        Row(
            "an exchange of a native code",
            (
                .exchange(code, redirectURI: nil, codeVerifier: nil), .token, false,
                "&grant_type=authorization_code&code=c.0%2F1"
            )),
        Row(
            "an exchange of a web code",
            (
                .exchange(
                    code, redirectURI: "https://example.com/cb",
                    codeVerifier: CodeVerifier(SecretText("v~1"))), .token, false,
                "&grant_type=authorization_code&code=c.0%2F1"
                    + "&redirect_uri=https%3A%2F%2Fexample.com%2Fcb&code_verifier=v~1"
            )),
        Row(
            "a refresh",
            (
                .refresh(RefreshToken(SecretText("r.1"))), .token, true,
                "&grant_type=refresh_token&refresh_token=r.1"
            )),
        Row(
            "a revocation of a refresh token",
            (
                .revoke(SecretText("r.1"), .refreshToken), .revoke, true,
                "&token=r.1&token_type_hint=refresh_token"
            )),
        Row(
            "a revocation of an access token",
            (
                .revoke(SecretText("a.1"), .accessToken), .revoke, true,
                "&token=a.1&token_type_hint=access_token"
            )),
        Row(
            "a request for a team token",
            (
                .clientCredentials, .token, true,
                "&grant_type=client_credentials&scope=user.migration"
            )),
    ]

    @Test(arguments: requests) func `a request is sent as the expected form`(
        _ row: Row<(TokenRequest, Endpoint, Bool, String)>
    ) throws {
        let (request, endpoint, isRepeatable, ownParameters) = row.value
        let secret = try Example.client().mintedSecret(at: Example.now)
        let form = request.form(clientID: Example.clientID, clientSecret: secret.text)
        let body = String(decoding: form.encoded().revealed(), as: UTF8.self)
        #expect(
            body
                == "client_id=com.example.app&client_secret=\(secret.text.revealed())\(ownParameters)"
        )
        #expect(request.endpoint == endpoint)
        #expect(request.isRepeatable == isRepeatable)
    }

    @Test func `a response with every member is read`() throws {
        let body = """
            {"access_token":"a.1","token_type":"Bearer","expires_in":3600,"refresh_token":"r.1",\
            "id_token":"x.y.z","new_member":[1]}
            """
        let response = try #require(TokenResponse(Array(body.utf8)))
        #expect(response.accessToken.text.revealed() == "a.1")
        #expect(response.refreshToken?.text.revealed() == "r.1")
        #expect(response.identityToken?.revealed() == "x.y.z")
        #expect(response.expiresIn == 3600)
        #expect(JSON.object(response.members).text == body, "unknown members and order kept")
        let shown = response.members(at: Example.now)
        #expect(shown.last == JSON.Member("expires_at", "2023-11-14T23:13:20Z"))
        #expect(shown.dropLast() == response.members[...])
    }

    @Test func `a response with only an access token is read`() throws {
        let response = try #require(TokenResponse(Array(#"{"access_token":"a.1"}"#.utf8)))
        #expect(response.refreshToken == nil && response.identityToken == nil)
        #expect(response.expiresIn == nil)
        #expect(response.members(at: Example.now).count == 1)
    }

    @Test(arguments: ["X-Apple-I-Request-ID", "x-apple-request-uuid"])
    func `Apple's request id is read from every kind of response`(_ name: String) throws {
        let id = HTTPField(name, " 5A.b ")
        let answer = HTTPResponse(
            status: 200, fields: [id],
            body: Array(#"{"access_token":"a.1","apple_request_id":"forged"}"#.utf8))
        let response = try #require(TokenResponse(answer))
        #expect(response.requestID == "5A.b")
        #expect(
            response.members(at: Example.now).map(\.name) == ["access_token", "apple_request_id"])
        #expect(response.members(at: Example.now).last?.value == "5A.b")
        let refusal = AppleError(
            HTTPResponse(
                status: 400, fields: [id], body: Array(#"{"error":"invalid_grant"}"#.utf8)))
        #expect(refusal?.requestID == "5A.b")
        let page = TokenFailure.Cause.unusable(HTTPResponse(status: 503, fields: [id]))
        #expect(page.requestID == "5A.b")
    }

    @Test func `an empty request id counts as absent`() {
        let fields = [
            HTTPField("X-Apple-I-Request-ID", " "), HTTPField("X-Apple-Request-UUID", "u"),
        ]
        #expect(HTTPResponse(status: 200, fields: fields).requestID == "u")
        #expect(HTTPResponse(status: 200, fields: Array(fields.prefix(1))).requestID == nil)
    }

    @Test(arguments: [Int.min, -1, 0, .max]) func `an extreme expires_in does not trap`(
        _ seconds: Int
    ) throws {
        let body = #"{"access_token":"a.1","expires_in":\#(seconds)}"#
        let response = try #require(TokenResponse(Array(body.utf8)))
        #expect(response.members(at: Example.now).last?.value.string?.hasSuffix("Z") == true)
    }

    @Test(arguments: [
        "", "{}", "[]", "null", "<html></html>", #"{"access_token":1}"#, #"{"access_token":null}"#,
        #"{"access_token":"a","access_token":"b"}"#, #"{"access_token":"a"} x"#,
        #"{"error":"invalid_grant"}"#, #"[{"access_token":"a"}]"#,
    ]) func `an invalid response is refused`(_ body: String) {
        #expect(TokenResponse(Array(body.utf8)) == nil)
    }

    static let refusals: [Row<(String, String?, String?)>] = [
        Row("a bare code", (#"{"error":"invalid_client"}"#, "invalid_client", nil)),
        Row(
            "with a description",
            (#"{"error":"invalid_grant","error_description":"x"}"#, "invalid_grant", "x")),
        Row("an unknown code", (#"{"error":"new_code"}"#, "new_code", nil)),
        Row(
            "a description that is no text",
            (#"{"error":"invalid_grant","error_description":1}"#, "invalid_grant", nil)),
        Row("no code", (#"{"error_description":"x"}"#, nil, nil)),
        Row("a number", (#"{"error":400}"#, nil, nil)),
        Row("an object", (#"{"error":{"code":"x"}}"#, nil, nil)),
        Row("an array", (#"["error"]"#, nil, nil)),
        Row("HTML", ("<html>", nil, nil)), Row("nothing", ("", nil, nil)),
    ]

    @Test(arguments: refusals) func `an error response is read`(
        _ row: Row<(String, String?, String?)>
    ) {
        let error = AppleError(HTTPResponse(status: 400, body: Array(row.value.0.utf8)))
        #expect(error?.code.rawValue == row.value.1)
        #expect(error?.detail == row.value.2)
        #expect(error?.status ?? 400 == 400)
    }

    @Test func `a draft equals the request that would be sent`() async throws {
        let harness = try ClientHarness([])
        let draft = try await harness.tokens.draft(
            .refresh(RefreshToken(SecretText("r.1"))), at: Example.now)
        #expect(draft.request.method == .post)
        #expect(draft.request.url == "https://appleid.apple.com/auth/token")
        #expect(draft.request.fields["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(draft.request.fields["User-Agent"]?.hasPrefix("siwa/") == true)
        #expect(draft.request.body.revealed() == draft.form.encoded().revealed())
        #expect(
            draft.form.parameters.map(\.name) == [
                "client_id", "client_secret", "grant_type", "refresh_token",
            ])
    }
}
