package import JOSE
package import Lifecycle
internal import SIWACrypto

extension VaultUser {
    /// The client and the user, as results show them.
    var members: [JSON.Member] {
        [
            .init("client_id", .string(clientID.rawValue)),
            .init("user_id", .string(userID.rawValue)),
        ]
    }
}

extension VaultRecord {
    /// Everything that can be read without a key.
    package var openMembers: [JSON.Member] { user.members + tokenMembers() }

    /// The members about the token, without client and user.
    ///
    /// - Parameter fingerprint: the fingerprint for a record of siwa 0.1, which does not contain
    ///   it.
    func tokenMembers(_ fingerprint: JSON? = nil) -> [JSON.Member] {
        [fingerprintMember(fingerprint), stateMember, .init("key_number", .integer(keyNumber))]
            + timeMembers
    }

    /// A line of `siwa vault export`, which `siwa vault import` accepts if it has a token.
    func exported(_ token: RefreshToken?) -> [JSON.Member] {
        let fingerprint = token.map { JSON.string($0.text.fingerprint) }
        let token = token.map { [JSON.Member("refresh_token", .string($0.text.revealed()))] }
        return user.members + [fingerprintMember(fingerprint)] + (token ?? []) + [stateMember]
            + timeMembers
    }

    private func fingerprintMember(_ fingerprint: JSON?) -> JSON.Member {
        .init(
            "token_fingerprint",
            id.fingerprint.map { .string($0.rawValue) } ?? fingerprint ?? .null)
    }

    /// `state`.
    var stateMember: JSON.Member { .init("state", .string(state.rawValue)) }

    private var timeMembers: [JSON.Member] {
        [
            .init("stored_at", .string(storedAt.rfc3339)),
            .init("changed_at", .string(changedAt.rfc3339)),
            .init("checked_at", checkedAt.map { .string($0.rfc3339) } ?? .null),
            .init("signed_in_at", signedInAt.map { .string($0.rfc3339) } ?? .null),
        ]
    }
}

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
