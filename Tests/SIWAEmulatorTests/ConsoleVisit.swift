import SIWACrypto
import SIWAEmulator
import SIWALifecycle
import SIWATestSupport
import Testing

/// What a browser on this machine does with the console.
extension EmulatorHarness {
    static let consoleHost = "localhost:9443"
    static let consoleOrigin = "https://localhost:9443"

    /// What a browser sends with a form of the console's page.
    static let formFields = [
        HTTPField("Host", consoleHost), HTTPField("Origin", consoleOrigin),
        HTTPField("Sec-Fetch-Site", "same-origin"), HTTPField("Accept", "application/json"),
        HTTPField("Content-Type", Form.contentType),
    ]

    /// Opens a page of the console.
    func look(_ target: String = "/emulator") async -> HTTPResponse {
        await emulator.respond(
            to: EmulatorRequest(
                method: "GET", target: target,
                fields: [
                    HTTPField("Host", Self.consoleHost), HTTPField("Sec-Fetch-Site", "none"),
                    HTTPField("Accept", "text/html"),
                ])
        ).response
    }

    /// What the page's forms bring back.
    func token() async throws -> String {
        let page = await look().text
        let found = try #require(page.firstMatch(of: /name="token" value="([A-Za-z0-9]+)"/))
        return String(found.output.1)
    }

    /// Sends a form of the console as its script does.
    func send(
        _ control: String, _ fields: [(String, String)], accept: String = "application/json"
    ) async throws -> HTTPResponse {
        let form = Form((fields + [("token", try await token())]).map { ($0, .plain($1)) })
        let accepted = [HTTPField("Accept", accept)]
        return await emulator.respond(
            to: EmulatorRequest(
                method: "POST", target: "/emulator/\(control)",
                fields: Self.formFields.filter { $0.name != "Accept" } + accepted,
                body: form.encoded().revealed())
        ).response
    }
}
