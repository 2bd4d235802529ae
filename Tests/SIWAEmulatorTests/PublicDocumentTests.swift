import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Testing

@Suite struct PublicDocumentTests {
    @Test func `under Apple's host name, the discovery document equals Apple's`() async throws {
        let document = try await discovery(host: "appleid.apple.com")
        #expect(
            document.members?.map(\.name) == [
                "issuer", "authorization_endpoint", "token_endpoint", "revocation_endpoint",
                "jwks_uri", "response_types_supported", "response_modes_supported",
                "subject_types_supported", "id_token_signing_alg_values_supported",
                "scopes_supported", "token_endpoint_auth_methods_supported", "claims_supported",
            ])
        #expect(document["issuer"] == "https://appleid.apple.com")
        #expect(document["token_endpoint"] == "https://appleid.apple.com/auth/token")
    }

    @Test func `under another host name, the discovery document contains no address of Apple's`()
        async throws
    {
        let document = try await discovery(host: "localhost:9443")
        #expect(document["issuer"] == "https://appleid.apple.com")
        #expect(document["jwks_uri"] == "https://localhost:9443/auth/keys")
    }

    @Test func `a switch serves the discovery document of June 2025`() async throws {
        let document = try await discovery(
            host: "localhost", switches: ["discovery_issuer": "https://account.apple.com"])
        #expect(document["issuer"] == "https://account.apple.com")
        #expect(document["revocation_endpoint"] == "https://account.apple.com/auth/revoke")
    }

    @Test(arguments: [
        ("GET", "/auth/userinfo", 404, "<title>404 Not Found</title>"),
        ("GET", "/auth/token", 405, "<title>405 Not Allowed</title>"),
        ("POST", "/auth/keys", 405, "<title>405 Not Allowed</title>"),
        ("POST", "/auth/token/", 404, "<hr><center>Apple</center>"),
        ("GET", "/", 404, "<hr><center>Apple</center>"),
    ])
    func `an unknown path or method gets Apple's error page`(
        _ method: String, _ path: String, _ status: Int, _ text: String
    ) async throws {
        let response = await (try EmulatorHarness()).emulator.respond(
            to: EmulatorRequest(method: method, target: path)
        ).response
        #expect(response.status == status)
        #expect(response.fields["content-type"] == "text/html")
        #expect(String(decoding: response.body, as: UTF8.self).contains(text))
    }

    @Test func `a query does not change the path`() async throws {
        let request = EmulatorRequest(method: "GET", target: "/auth/keys?x=y")
        #expect(await (try EmulatorHarness()).emulator.respond(to: request).response.status == 200)
    }

    private func discovery(host: String, switches: JSON = [:]) async throws -> JSON {
        let response = await (try EmulatorHarness(switches)).emulator.respond(
            to: EmulatorRequest(
                method: "GET", target: "/.well-known/openid-configuration",
                fields: [HTTPField("host", host)])
        ).response
        return try JSON(response.body)
    }
}
