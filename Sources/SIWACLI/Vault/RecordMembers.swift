internal import SIWACrypto
internal import SignInWithApple

extension VaultRecord {
    /// Whose it is, as results show it.
    var userMembers: [JSON.Member] {
        [
            .init("client_id", .string(user.clientID.rawValue)),
            .init("user_id", .string(user.userID.rawValue)),
        ]
    }

    /// Everything that can be read without a key.
    ///
    /// - Parameter fingerprint: for a record of siwa 0.1, which does not have it.
    func openMembers(_ fingerprint: JSON? = nil) -> [JSON.Member] {
        userMembers + [
            .init(
                "token_fingerprint",
                id.fingerprint.map { .string($0.rawValue) } ?? fingerprint ?? .null),
            stateMember, .init("key_number", .integer(keyNumber)),
        ] + timeMembers
    }

    /// A line of `siwa vault export`, which `siwa vault import` takes when a token is in it.
    func exported(_ token: RefreshToken?) -> [JSON.Member] {
        let token = token.map { [JSON.Member("refresh_token", .string($0.text.revealed()))] }
        return userMembers + (token ?? []) + [stateMember] + timeMembers
    }

    private var stateMember: JSON.Member { .init("state", .string(state.rawValue)) }

    private var timeMembers: [JSON.Member] {
        [
            .init("stored_at", .string(storedAt.rfc3339)),
            .init("changed_at", .string(changedAt.rfc3339)),
            .init("checked_at", checkedAt.map { .string($0.rfc3339) } ?? .null),
        ]
    }
}
