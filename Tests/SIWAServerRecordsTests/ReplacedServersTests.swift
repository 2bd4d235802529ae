import SIWAJOSE
import Testing

@testable import SIWAServerRecords

/// Which rows of servers that ended without removing them are still shown.
@Suite struct ReplacedServersTests {
    private func record(
        _ id: String, host: String = "a", startedAt: Int, silence: Int,
        listeners: [String] = ["127.0.0.1:8765"]
    ) -> ServerRecord {
        var facts = ServerFacts()
        facts.listeners = listeners
        return ServerRecord(
            ServerInstance(id: id, host: host, version: "1"), startedAt: NumericDate(startedAt),
            heartbeatAt: NumericDate(startedAt), silence: .seconds(silence), facts: facts)
    }

    @Test func `a silent server is left out if a later one has its listeners`() {
        let later = record("later", startedAt: 100, silence: 3)
        func isShown(_ other: ServerRecord) -> Bool {
            [other, later].withoutReplaced.map(\.server.id).contains(other.server.id)
        }
        #expect(!isShown(record("killed", startedAt: 50, silence: 20)))
        #expect(isShown(record("elsewhere", host: "b", startedAt: 50, silence: 20)))
        #expect(isShown(record("beside", startedAt: 50, silence: 20, listeners: ["127.0.0.1:1"])))
        #expect(isShown(record("alive", startedAt: 50, silence: 9)))
        #expect(isShown(record("newer", startedAt: 150, silence: 20)))
        #expect([later].withoutReplaced == [later])
    }

    @Test func `two silent servers are both shown`() {
        let records = [
            record("first", startedAt: 50, silence: 25),
            record("second", startedAt: 60, silence: 20),
        ]
        #expect(records.withoutReplaced == records)
    }
}
