import SIWACrypto
import SIWAJOSE
import Testing

@testable import SIWAServer

@Suite struct WebhookSecretsTests {
    @Test
    func `the signature of the Standard Webhooks example equals that of its libraries`() throws {
        // The test vector of the reference implementations.
        let secrets = try WebhookSecrets(
            SecretBytes("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n".utf8))
        let signature = try secrets.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test
    func `a message is signed with the secret of every line`() throws {
        let lines = try [1, 2].map { _ in try WebhookSecrets.newLine() }
        let both = try WebhookSecrets(SecretBytes(lines[0].revealed() + lines[1].revealed()))
        let alone = try lines.map {
            try WebhookSecrets($0).signature(id: "a", timestamp: 1, body: [1])
        }
        let signature = try both.signature(id: "a", timestamp: 1, body: [1])
        #expect(signature == alone.joined(separator: " "))
        #expect(alone[0] != alone[1])
    }

    @Test(
        arguments: [
            ("", WebhookSecretsError.empty), ("\n\r\n", .empty), ("secret", .line(1)),
            ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\nwhsec_AAAA", .line(2)),
            ("whsec_" + String(repeating: "A", count: 88), .line(1)),
            ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!w", .line(1)),
        ])
    func `invalid lines are refused`(_ text: String, _ expected: WebhookSecretsError) throws {
        #expect(throws: expected) { try WebhookSecrets(SecretBytes(text.utf8)) }
    }

    @Test(arguments: [
        "https://app.example/apple", "https://10.0.0.7:8443/x?y=z", "http://127.0.0.1:3000/",
        "http://[::1]/", "http://localhost",
    ])
    func `https targets and http targets on loopback are accepted`(_ url: String) throws {
        #expect(try DeliveryTarget(url).url == url)
    }

    @Test(
        arguments: [
            ("http://app.example/", DeliveryTargetError.plainHTTP), ("ftp://x/", .scheme),
            ("https://user:word@app.example/", .userInformation), ("https://", .host),
            ("https://app.example:99999/", .host), ("https://app.example/#x", .characters),
            ("https://app.example/\nx", .characters),
            ("http://127.0.0.1@app.example/", .userInformation),
            ("http://127.0.0.1.app.example/", .plainHTTP),
        ])
    func `invalid targets are refused`(_ url: String, _ expected: DeliveryTargetError) throws {
        #expect(throws: expected) { try DeliveryTarget(url) }
    }

    @Test
    func `http to other hosts needs a setting`() throws {
        #expect(throws: Never.self) { try DeliveryTarget("http://app:3000/", allowsHTTP: true) }
        #expect(throws: DeliveryTargetError.userInformation) {
            try DeliveryTarget("http://a@app:3000/", allowsHTTP: true)
        }
    }
}
