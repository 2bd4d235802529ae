internal import SIWAJOSE
internal import SIWALifecycle

// grant_type=client_credentials: the team's own token, for user migration.
extension Service {
    mutating func issueTeamToken(_ form: ReceivedForm) throws -> Answer {
        let credentials = try credentials(form)
        let scope = try form.required("scope")
        let team = try authenticate(credentials, for: .migration)
        guard scope == "user.migration" else {
            throw Refusal(
                behaviors.unknownScope == .invalidRequest ? .invalidRequest : .invalidScope,
                in: "scope", because: "'\(scope.clipped)' is not user.migration")
        }
        examination.passed("scope", scope)
        try checkWindow()
        let session = Ledger.Session(
            clientID: ClientID(unchecked: credentials.clientID), teamID: team.teamID, user: nil,
            nonce: nil, signedInAt: now(), lastUsedAt: now())
        let shard = try TokenText.shard(of: UserID(unchecked: team.teamID.rawValue))
        let accessToken = issueAccessToken(of: ledger.open(session), shard: shard)
        return Answer(
            .json(.object(tokenMembers(accessToken: accessToken))),
            because: "ok: token of team \(team.teamID)")
    }

    private func checkWindow() throws(Refusal) {
        guard behaviors.teamToken == .inWindow else { return }
        guard let migrationEnd, now() < migrationEnd else {
            throw Refusal(
                .unauthorizedClient, in: "moment",
                because: "no transfer was accepted within the last 60 days")
        }
    }
}
