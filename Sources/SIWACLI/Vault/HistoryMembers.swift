package import JOSE
package import Lifecycle

extension VaultHistoryEntry {
    /// The entry for machines, its members in their order.
    package var members: [JSON.Member] {
        [.init("at", .string(at.rfc3339)), .init("event", .string(event.rawValue))] + user.members
            + (newUserID.map { [.init("new_user_id", .string($0.rawValue))] } ?? [])
            + [
                .init("token_fingerprint", fingerprint.map { .string($0.rawValue) } ?? .null)
            ]
            + (details.evidence.map { [.init("evidence", .string($0.rawValue))] } ?? [])
            + (details.httpStatus.map { [.init("http_status", .integer($0))] } ?? [])
            + (details.appleRequestID.map { [.init("apple_request_id", .string($0))] } ?? [])
            + [.init("command", .string(actor.command)), .init("host", .string(actor.host))]
    }
}
