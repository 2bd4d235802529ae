internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

// POST /auth/usermigrationinfo: converts user ids when an app moves from one team to another. Apple
// answers nearly every fault with `invalid_request` and no description.
extension Service {
    mutating func migrate(_ form: ReceivedForm, _ bearer: String?) throws -> Answer {
        try refuseRepetition(in: form)
        let credentials = try credentials(form)
        guard let bearer else {
            throw Refusal(.invalidRequest, in: "Authorization", because: "no bearer token")
        }
        let (id, team) = try authenticate(
            credentials, for: .migration, presenting: bearer,
            lookingUp: { try find(bearer: bearer) }, checking: { _ in })
        let session = ledger[id]
        guard session.clientID.rawValue == credentials.clientID, session.teamID == team.teamID
        else {
            throw Refusal(
                .invalidRequest,
                in: "bearer", because: "issued to \(session.clientID) of team \(session.teamID)")
        }
        let directory = try transferees ?? Transferees(users, configuration.teams)
        transferees = directory
        let answer =
            form["transfer_sub"] == nil
            ? try exportUser(form, session, team, directory)
            : try importUser(form, session, team, directory)
        // A user's own token is valid for one answer.
        if session.user != nil { ledger.spendAccessToken(bearer) }
        return answer
    }

    private func find(bearer text: String) throws(Refusal) -> Ledger.SessionID {
        guard let id = ledger.session(accessToken: text, at: now()), !ledger[id].isRevoked else {
            // Recorded without a description.
            throw Refusal(
                .invalidGrant, in: "bearer", because: "expired, used up or revoked, or never issued"
            )
        }
        examination.passed("bearer", "issued to \(ledger[id].clientID)")
        return id
    }

    /// The sender's half: `sub` and `target` in, `transfer_sub` out.
    private func exportUser(
        _ form: ReceivedForm, _ session: Ledger.Session, _ team: EmulatedTeam,
        _ directory: Transferees
    ) throws -> Answer {
        let userID = try form.required("sub")
        let target = try form.required("target")
        try checkMoment(of: team, is: configuration.team)
        guard let recipient = configuration.teams.first(where: { $0.teamID.rawValue == target })
        else {
            throw Refusal(.invalidRequest, in: "target", because: "no team '\(target.clipped)'")
        }
        guard let user = directory.user(userID) else {
            let isTeam = TeamID.fault(in: userID) == nil
            throw Refusal(
                .invalidRequest, in: "sub",
                because: isTeam ? "this is a Team ID" : "no such user")
        }
        try check(user, in: session)
        let isUseless = recipient.teamID == team.teamID
        return Answer(
            .json(["transfer_sub": try user.transferID(to: recipient.teamID).json]),
            because: isUseless
                ? "ok, but useless: target is the own team" : "ok: '\(user.name)' is exported")
    }

    /// The recipient's half: `transfer_sub` in, the user's new `sub` out.
    private mutating func importUser(
        _ form: ReceivedForm, _ session: Ledger.Session, _ team: EmulatedTeam,
        _ directory: Transferees
    ) throws -> Answer {
        let transferID = try form.required("transfer_sub")
        guard form["sub"] == nil, form["target"] == nil else {
            throw Refusal(
                .invalidRequest, in: "sub or target", because: "given together with transfer_sub")
        }
        guard let recipient = configuration.recipient else {
            throw Refusal(.invalidRequest, in: "transfer_sub", because: "there is no recipient")
        }
        guard acceptedAt != nil else {
            throw Refusal(
                .invalidRequest, in: "moment", because: "the transfer is not accepted yet")
        }
        try checkMoment(of: team, is: recipient)
        guard let transferee = directory[transferID] else {
            throw Refusal(.invalidRequest, in: "transfer_sub", because: "never issued")
        }
        guard transferee.target == team.teamID else {
            throw Refusal(
                .invalidRequest, in: "transfer_sub", because: "made for team \(transferee.target)")
        }
        try check(transferee.user, in: session)
        return try imported(transferee.user, in: session, by: team)
    }

    private mutating func imported(
        _ user: EmulatedUser, in session: Ledger.Session, by team: EmulatedTeam
    ) throws -> Answer {
        let sharing = ledger.consents[user.userID, session.clientID] ?? .shared
        let seen = try seen(user, sharing, by: team.teamID)
        var members = [JSON.Member("sub", try user.userID(with: team.teamID).json)]
        if seen.isPrivateEmail, let email = seen.email {
            members.append(JSON.Member("email", .string(email)))
            members.append(JSON.Member("is_private_email", true))
        }
        return Answer(.json(.object(members)), because: "ok: '\(user.name)' has arrived")
    }

    private func checkMoment(
        of team: EmulatedTeam, is expected: EmulatedTeam
    ) throws(Refusal) {
        guard team.teamID == expected.teamID else {
            throw Refusal(
                .invalidRequest, in: "team", because: "\(team.teamID) does the other half of it")
        }
        guard let migrationEnd, now() >= migrationEnd else { return }
        throw Refusal(
            .invalidRequest, in: "moment", because: "the 60 days ended at \(migrationEnd.rfc3339)")
    }

    private func check(_ user: EmulatedUser, in session: Ledger.Session) throws(Refusal) {
        guard session.user == nil || session.user?.userID == user.userID else {
            throw Refusal(.invalidRequest, in: "bearer", because: "another user's own token")
        }
        guard !ledger.consents.isWithdrawn(user.userID, session.clientID) else {
            throw Refusal(
                .invalidRequest, in: "user", because: "'\(user.name)' has revoked the client")
        }
        guard
            !behaviors.migrationNeedsSignIn
                || ledger.consents[user.userID, session.clientID] != nil
        else {
            throw Refusal(.invalidRequest, in: "user", because: "'\(user.name)' never signed in")
        }
    }
}

extension EmulatorRequest {
    /// The token of `Authorization: Bearer …` (RFC 6750 §2.1).
    var bearer: String? {
        let words = fields["authorization"]?.split(separator: " ", maxSplits: 1) ?? []
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        return String(words[1])
    }
}
