import JOSE
import Lifecycle
import SIWACLI
import Synchronization
import Testing

@testable import SIWAServer

@Suite struct ServerLogTests {
    /// The members of the line that an event writes.
    private func line(_ event: ServiceEvent, showsUserIDs: Bool = true) throws -> JSON {
        let written = Mutable("")
        let log = ServerLog(now: { NumericDate(0) }, showsUserIDs: showsUserIDs) {
            written.value = $0
        }
        log(event)
        return try JSON(text: written.value)
    }

    private static let digits = "0f1e2d3c4b5a69788776655443322110"

    @Test(arguments: [
        "r\(digits).0.mrtu.S-e_CrEt", "a\(digits).0.mrtu.S-e_CrEt", "c\(digits).0.mrtu.S-e_CrEt",
        "siwa_" + String(repeating: "a-", count: 21) + "a",
    ])
    func `a secret that was sent as a user or client id is masked`(_ secret: String) throws {
        for name in ["user_id", "client_id", "reason", "message"] {
            let line = try line(ServiceEvent(.info, "request", [.init(name, .string(secret))]))
            #expect(line[name] == "(secret, not shown)")
        }
    }

    @Test func `ids are shown, unless user ids are hidden`() throws {
        let user = "001234.\(Self.digits).0456"
        let event = ServiceEvent(
            .info, "request", [.init("user_id", .string(user)), .init("jti", .string(user))])
        #expect(try line(event)["user_id"]?.string == user)
        let hidden = try line(event, showsUserIDs: false)
        #expect(hidden["user_id"] == nil && hidden["jti"]?.string == user)
        #expect(hidden["user_fingerprint"]?.string == SecretText(user).fingerprint)
    }

    @Test(arguments: [
        ("the vault has no token of 'U.1', and no record of a revocation", true),
        ("token 0123456789ab of 'U.1' of com.example.app cannot be decrypted", false),
        ("the record of 'U.1' of 'com.example.app' is damaged: its state is unknown", false),
        ("U.1 is unknown", true), ("U.1", true), ("'a' of ''", false), ("of 'U.1", true),
        ("é of 'U.1', ü", false),
    ])
    func `messages name no user if user ids are hidden`(
        _ message: String, _ isNamed: Bool
    ) throws {
        let members: [JSON.Member] = [.init("message", .string(message))]
        let user: [JSON.Member] = isNamed ? [.init("user_id", "U.1")] : []
        let line = try line(
            ServiceEvent(.error, "request", members + user), showsUserIDs: false)
        let shown = try #require(line["message"]?.string)
        #expect(!shown.contains("U.1"))
        let fingerprint = SecretText("U.1").fingerprint
        #expect(shown.contains(fingerprint) == message.contains("U.1"))
        #expect(shown.hasPrefix(String(message.prefix { $0 != "'" && $0 != "U" })))
    }
}
