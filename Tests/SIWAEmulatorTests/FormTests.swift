import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Testing

/// An invalid form, and the answer to it.
struct BadForm: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let body: String
    var contentType = Form.contentType
    var error = "invalid_request"
    let verdict: String
}

@Suite struct FormTests {
    static let rows = [
        BadForm(
            testDescription: "JSON", body: "{}", contentType: "application/json",
            error: "invalid_client", verdict: "Content-Type: 'application/json', must be"),
        BadForm(
            testDescription: "multipart", body: "--x", contentType: "multipart/form-data; x=y",
            error: "invalid_client", verdict: "Content-Type: 'multipart/form-data; x=y'"),
        BadForm(
            testDescription: "no type", body: "grant_type=x", contentType: "",
            error: "invalid_client", verdict: "Content-Type: ''"),
        BadForm(testDescription: "empty", body: "", verdict: "grant_type: missing or empty"),
        BadForm(
            testDescription: "empty value", body: "grant_type=",
            verdict: "grant_type: missing or empty"),
        BadForm(
            testDescription: "twice", body: "grant_type=x&grant_type=x",
            verdict: "grant_type: given twice"),
        BadForm(
            testDescription: "half an escape", body: "grant_type=%4",
            verdict: "parameters: a '%' without"
        ),
        BadForm(
            testDescription: "no escape", body: "grant_type=%zz",
            verdict: "parameters: a '%' without"),
        BadForm(
            testDescription: "not UTF-8", body: "grant_type=%ff",
            verdict: "parameters: a value is not"),
        BadForm(
            testDescription: "a raw space", body: "grant_type=refresh token",
            verdict: "parameters: byte 32 must be percent-encoded"),
        BadForm(
            testDescription: "a line feed at the end", body: "grant_type=x\n",
            verdict: "parameters: byte 10 must be percent-encoded"),
        BadForm(
            testDescription: "no secret", body: "grant_type=authorization_code&code=x&client_id=y",
            error: "invalid_client",
            verdict: "client_secret: missing or empty"),
        BadForm(
            testDescription: "another grant", body: "grant_type=password",
            error: "unsupported_grant_type", verdict: "grant_type: 'password' is not offered"),
    ]

    @Test(arguments: rows) func `a malformed form is refused`(_ row: BadForm) async throws {
        let harness = try await EmulatorHarness()
        let response = await harness.post(
            "/auth/token", body: Array(row.body.utf8),
            fields: [HTTPField("Content-Type", row.contentType)])
        #expect(Outcome(response) == Outcome(row.error))
        let verdict = try await harness.verdict()
        #expect(verdict.hasPrefix(row.verdict), "\(verdict)")
    }

    @Test(arguments: [
        "application/x-www-form-urlencoded;charset=UTF-8",
        "Application/X-WWW-Form-Urlencoded ; charset=utf-8",
    ])
    func `a content type with a charset is accepted`(_ type: String) async throws {
        let harness = try await EmulatorHarness()
        let response = await harness.post(
            "/auth/token", body: Array("grant%5ftype=a+b".utf8),
            fields: [HTTPField("Content-Type", type)])
        #expect(Outcome(response) == Outcome("unsupported_grant_type"))
        #expect(try await harness.verdict() == "grant_type: 'a b' is not offered")
    }

    @Test func `a body of more than 1 MiB is refused`() async throws {
        let harness = try await EmulatorHarness()
        let most = [UInt8](repeating: 0x61, count: EmulatorRequest.bodyLimit)
        #expect(await harness.post("/auth/token", body: most).status == 400)
        let response = await harness.post("/auth/token", body: most + [0x61])
        #expect(response.status == 413)
        #expect(try JSON(response.body)["error"] == "invalid_request")
    }
}
