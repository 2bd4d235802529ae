import SIWAJOSE
import SIWALifecycle
import SIWAVaultRecords
import Synchronization
import Testing

@testable import SIWAApplication
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
        for name in ["reason", "message"] {
            let line = try line(ServiceEvent(.info, "request", [.init(name, .string(secret))]))
            #expect(line[name] == "(secret, not shown)")
        }
        let subject = LogSubject(
            clientID: ClientID(unchecked: secret), userID: UserID(unchecked: secret))
        let line = try line(ServiceEvent(.info, "request", about: subject))
        #expect(line["client_id"] == "(secret, not shown)")
        #expect(line["user_id"] == "(secret, not shown)")
    }

    @Test func `ids are logged unless user ids are hidden`() throws {
        let user = "001234.\(Self.digits).0456"
        let event = ServiceEvent(
            .info, "request", [.init("jti", .string(user))],
            about: LogSubject(userID: UserID(unchecked: user)))
        #expect(try line(event)["user_id"]?.string == user)
        let hidden = try line(event, showsUserIDs: false)
        #expect(hidden["user_id"] == nil && hidden["jti"]?.string == user)
        #expect(hidden["user_fingerprint"]?.string == SecretText(user).fingerprint)
    }

    @Test(arguments: ["U.1", "of 'U.1': é", "'", "é"])
    func `messages contain no user id if user ids are hidden`(_ id: String) throws {
        let user = VaultUser(ClientID(unchecked: "com.example.app"), UserID(unchecked: id))
        let damaged = DamagedRecord(
            VaultRowKey(
                clientID: Array("com.example.app".utf8), userID: Array(id.utf8),
                fingerprint: Array("0123456789ab".utf8)), "its state is unknown"
        ).error
        let notFound = Diagnosis.notFound("the vault has no token of '\(id)'", naming: user.userID)
        let events = [
            ServiceEvent(.error, "row_damaged", damaged),
            ServiceEvent(.warning, "request", Problem(Diagnosis(damaged))),
            ServiceEvent(.warning, "request", Problem(notFound)),
            ServiceEvent(
                .error, "request", [.init("message", .string("\(id)\u{301} is unknown"))],
                about: LogSubject(user)),
        ]
        for event in events {
            let shown = try line(event), hidden = try line(event, showsUserIDs: false)
            let name = shown["reason"] == nil ? "message" : "reason"
            let (text, masked) = (shown[name]?.string ?? "", hidden[name]?.string ?? "")
            let written = event.userID ?? id
            #expect(text.utf8.contains(written.utf8))
            let fingerprint = SecretText(written).fingerprint
            let expected = Array(text.utf8).replacing(written.utf8, with: fingerprint.utf8)
            #expect(Array(masked.utf8) == expected)
        }
    }
}
