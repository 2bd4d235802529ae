import Glibc
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

/// Users whose events hang in the application.
private final class HangingUsers: Sendable {
    private let state = Mutex((ids: Set<String>(), isReleased: false))

    /// How many hang, or have hung.
    var count: Int { state.withLock { $0.ids.count } }

    func release() { state.withLock { $0.isReleased = true } }

    /// The status of a delivery; for theirs, after they were released.
    func status(of id: String) -> Int {
        guard id.hasPrefix("hang") else { return 204 }
        state.withLock { _ = $0.ids.insert(id) }
        while !state.withLock({ $0.isReleased }) { usleep(50_000) }
        return 503
    }
}

/// An application that hangs for some users.
@Suite(.blocking) struct HangingDeliveryTests {
    private static let hanging = 200

    @Test(arguments: VaultBackend.available)
    func `a hanging delivery does not delay other users' events`(_ backend: VaultBackend)
        async throws
    {
        let (fixture, signer) = (try await ServerFixture(backend), try NotificationSigner())
        let users = HangingUsers()
        let application = try EventReceiver { id, _ in users.status(of: id) }
        defer { users.release() }
        try fixture.apple.folder.write("apple/keys.json", signer.keySet.text)
        try fixture.deliver(to: application.url, [.init("jwks_file", "keys.json")])
        let server = try await fixture.serve()
        for number in 1...Self.hanging {
            let body = try signer.body("hang-\(number)", about: "001234.\(number).0001")
            #expect(try await server.post(body).status == 200)
        }
        try await eventually("all hang in the application") {
            users.count == Self.hanging
        }
        for (number, failures) in [(1, 0), (2, Self.hanging)] {
            try await eventually("some attempts have failed") {
                try server.log("delivery_failed").count >= failures
            }
            let before = try server.log("delivery_failed").count
            let body = try signer.body("good-\(number)", about: "001234.good\(number).0001")
            #expect(try await server.post(body).status == 200)
            try await eventually("the event of another user arrives") {
                application.accepted["good-\(number)"] != nil
            }
            // If it waited for its turn, nearly all others would come first.
            let after = try server.log("delivery_failed").count
            #expect(after - before < Self.hanging / 2 && application.count == number)
        }
        users.release()
        _ = try await server.stop()
    }
}
