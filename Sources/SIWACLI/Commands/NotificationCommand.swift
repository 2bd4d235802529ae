internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords

/// `siwa notification`: verifies a server-to-server notification and shows its event.
struct NotificationCommand: Command {
    static let name = "notification"
    static let abstract = "Verify a server-to-server notification."
    static let discussion = """
        Takes the request body, {"payload":"..."}, of one or more lines, or the JWT itself. Runs \
        every check and prints valid, checks, event, jti, header and claims. The exit code is 1 \
        unless the notification is valid; the contents of an invalid one are printed too, but must \
        not be trusted. For a text that is not a JWT only valid and checks are printed. --print \
        prints no other member of an invalid notification.

        Events are normalized: both names of the deletion become account-deleted, and event_time, \
        in seconds or milliseconds, becomes RFC 3339. Unknown events are printed unchanged. Apple \
        may send an event twice, with the same jti.

        --apply records the event in the vault: consent-revoked and account-deleted change the \
        state of the user's tokens, for each client in --audience and each client of a profile with \
        the same team, because Apple's aud is the primary App ID. Tokens of sign-ins in the second \
        of the event or later, and revoked tokens, keep their state. Applying a notification again is harmless.
        """
    static let examples = [
        Example(
            "siwa notification - --print event < body.json",
            "Print the event of a valid notification."),
        Example("siwa notification - --apply < body.json", "Record the event in the vault."),
    ]
    static let parameters: [Parameter<Self>] =
        [.operand("PAYLOAD", \.$payload, help: "The request body, or the JWT in it.")]
        + [
            .flag("apply", \.isApplied, help: "Record the event in the vault."),
            VaultArgument.option(\.vault),
        ]
        + VerificationOptions.parameters(at: \.verification)
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var verification = VerificationOptions()
    @Required var payload: SecretArgument
    var isApplied = false
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try checkCombination()
        let verifying = try Verifying(global, verification, vault: vault, in: world)
        let vault = isApplied ? try verifying.session.vault() : nil
        let verified = try await verify(verifying)
        let applied = try verified.claims.flatMap { notification in
            try vault.map { try apply(notification.event, to: $0, verifying) }
        }
        let deed = applied.map { _ in
            Deed(
                "the notification was applied to the vault",
                hint: "applying it again is harmless: fix standard output, then run it again")
        }
        try verifying.report(verified, of: .notification, deed: deed) { token in
            let event = token.payload.normalizedEvent.map { [JSON.Member("event", $0)] } ?? []
            let id = token.payload["jti"].map { [JSON.Member("jti", $0)] } ?? []
            return event + id + [
                .init("header", token.header), .init("claims", token.payload.normalizedClaims),
            ] + (applied.map { [.init("applied", result($0))] } ?? [])
        }
        var broken = BrokenRecords()
        for row in applied?.damaged ?? [] { try broken.add(row.error) }
        try broken.check("the event was noted for the user's other tokens")
    }

    private func checkCombination() throws(UsageError.Problem) {
        guard vault == nil || isApplied else {
            throw UsageError.Problem.misuse(
                "--vault needs --apply", hint: "add --apply to record the event in the vault")
        }
    }

    /// Records an event; returns the current records that it concerns.
    private func apply(
        _ event: NotificationEvent, to vault: Vault, _ verifying: Verifying
    ) throws -> VaultPage {
        let clients = Set(
            verifying.audiences + verifying.session.settings.clientsOfTeams(of: verifying.audiences)
        )
        let users = clients.compactMap { client in
            try? VaultUser(ClientID(validating: client), validating: event.userID.rawValue)
        }
        guard let notice = VaultNotice(event, users: users) else { return VaultPage() }
        let world = verifying.session.world
        let page = try world.ending.completing {
            try vault.note(notice.event, ofAllTokensOf: users, at: world.clocks.now())
        }
        note(page, on: verifying.session.console)
        return page
    }

    /// Says what the event did not change, which would otherwise look like a success.
    private func note(_ page: VaultPage, on console: Console) {
        if page.isEmpty { console.note("the vault has no records of this user") }
        let later = page.records.count { $0.state == .active }
        guard later > 0 else { return }
        console.note(
            (later == 1 ? "a token stays active" : "\(later) tokens stay active")
                + ": the event is not later than the sign-in")
    }

    /// The current tokens of the user.
    private func result(_ page: VaultPage) -> JSON {
        .array(
            page.records.map { record in
                .object(record.user.members + [record.fingerprintMember, record.stateMember])
            })
    }

    private func verify(_ verifying: Verifying) async throws -> NotificationVerification {
        let token: CompactJWS
        do {
            let body = try verifying.session.secret(payload, "PAYLOAD", isWhole: true)
            token = try CompactJWS.read(notificationBody: body.bytes.revealed())
        } catch let error as NotificationBodyError {
            return NotificationVerification(impossible: .format, error.description)
        } catch let error as UnreadableSecret where error.cause.isTooLarge {
            return NotificationVerification(impossible: .format, error.cause.reason)
        }
        return try await verifying.verifier(for: token)
            .verify(notification: token, at: verifying.now)
    }
}
