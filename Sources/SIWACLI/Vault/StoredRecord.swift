internal import CommandTable
internal import SignInWithApple

extension Session {
    /// A user of the client of the settings.
    func vaultUser(_ userID: String) throws -> VaultUser {
        let clientID = try clientID()
        do {
            return try VaultUser(clientID, validating: userID)
        } catch {
            throw UsageError.Problem.misuse(
                "the user '\(error.text)' \(error.fault)",
                hint: "give the 'sub' of an identity token, which siwa calls user_id")
        }
    }
}

extension NegativeAnswer {
    /// The vault has nothing of a user; other clients of it may.
    static func noRecord(
        of user: VaultUser, in store: any VaultStore
    ) throws(VaultError) -> NegativeAnswer {
        var others: [ClientID] = []
        for client in try store.clients() where client != user.clientID {
            let other = VaultUser(client, user.userID)
            if try !store.records(of: [other]).isEmpty { others.append(client) }
        }
        return NegativeAnswer(
            "no_record", "the vault has no token of '\(user.userID)' of \(user.clientID)",
            hints: others.map { "it has one of \($0): add --client-id \($0)" } + [
                "check USER, --client-id and --profile; 'siwa vault list' shows what there is"
            ])
    }
}
