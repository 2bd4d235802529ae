internal import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle
package import SIWAVaultRecords

extension VaultUser {
    /// The client and the user, as results show them.
    package var members: [JSON.Member] {
        [
            .init("client_id", .string(clientID.rawValue)),
            .init("user_id", .string(userID.rawValue)),
        ]
    }
}

extension VaultRecord {
    /// Everything that can be read without a key.
    package var openMembers: [JSON.Member] { user.members + tokenMembers }

    /// The members about the token, without client and user.
    package var tokenMembers: [JSON.Member] {
        [fingerprintMember, stateMember, .init("key_number", .integer(keyNumber))] + timeMembers
    }

    /// A line of `siwa vault export`, which `siwa vault import` accepts if it has a token.
    package func exported(_ token: RefreshToken?) -> [JSON.Member] {
        let token = token.map { [JSON.Member("refresh_token", .string($0.text.revealed()))] }
        return user.members + [fingerprintMember] + (token ?? []) + [stateMember]
            + timeMembers
    }

    /// `token_fingerprint`.
    package var fingerprintMember: JSON.Member {
        .init("token_fingerprint", .string(id.fingerprint.rawValue))
    }

    /// `state`.
    package var stateMember: JSON.Member { .init("state", .string(state.rawValue)) }

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
            + [.init("token_fingerprint", .string(fingerprint.rawValue))]
            + (details.evidence.map { [.init("evidence", .string($0.rawValue))] } ?? [])
            + (details.httpStatus.map { [.init("http_status", .integer($0))] } ?? [])
            + (details.appleRequestID.map { [.init("apple_request_id", .string($0))] } ?? [])
            + [.init("command", .string(actor.command)), .init("host", .string(actor.host))]
    }
}

extension [JSON.Member] {
    /// `other_clients`: the other clients with tokens of the same user; omitted if empty.
    package static func otherClients(_ clients: [ClientID]) -> Self {
        clients.isEmpty
            ? [] : [.init("other_clients", .array(clients.map { .string($0.rawValue) }))]
    }
}

extension VaultStore {
    /// The other clients with tokens of a user, in their order.
    package func otherClients(of user: VaultUser) throws(StoreError) -> [ClientID] {
        let others = try clients().filter { $0 != user.clientID }
        guard !others.isEmpty else { return [] }
        let page = try records(of: others.map { VaultUser($0, user.userID) })
        let found = Set(
            page.records.map { Array($0.user.clientID.rawValue.utf8) }
                + page.damaged.map(\.key.clientID))
        return others.filter { found.contains(Array($0.rawValue.utf8)) }
    }
}
