internal import CommandTable
internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// `siwa notification`: whether what was posted to a server is Apple's, and what happened.
struct NotificationCommand: Command {
    static let name = "notification"
    static let abstract = "Verify a server-to-server notification."
    static let discussion = """
        Takes the body that was posted, {"payload":"..."}, on as many lines as it has, or the bare \
        JWT. Makes every check there is and prints all of them: valid, checks, event, jti, header, \
        claims. The exit code is 1 unless the notification is valid; what it says is printed all \
        the same, and is not to be believed then. Of a text that is no JWT only valid and checks \
        are printed; --print prints no other member of any notification that is not valid.

        The event comes in one spelling: both words for the deletion come out as account-deleted, \
        and event_time, in seconds or milliseconds, as RFC 3339 writes it. An event siwa does not \
        know comes out as it is. Apple may send an event twice, under the same jti.

        --apply tells the vault: consent-revoked and account-deleted move the state of what is \
        stored of the user, for each client that the notification may be for (--audience) and each \
        client that a profile of the same team names: Apple's aud is the primary App ID. Tokens \
        that were stored after the event, and revoked ones, keep their state. Applying a \
        notification again is harmless.
        """
    static let examples = [
        Example(
            "siwa notification - --print event < body.json",
            "Print what happened, if it is true that Apple says so."),
        Example("siwa notification - --apply < body.json", "Note in the vault what happened."),
    ]
    static let parameters: [Parameter<Self>] =
        [.operand("PAYLOAD", \.$payload, help: "The body as it was posted, or the JWT in it.")]
        + [
            .flag("apply", \.isApplied, help: "Note in the vault what happened."),
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
                "--vault goes with --apply", hint: "add --apply to note the event in the vault")
        }
    }

    /// Notes an event; answers the records that it was about, as they are now.
    private func apply(
        _ event: NotificationEvent, to vault: Vault, _ verifying: Verifying
    ) throws -> VaultPage {
        guard let change = event.vaultEvent else { return VaultPage() }
        let clients = Set(
            verifying.audiences + verifying.session.settings.clientsOfTeams(of: verifying.audiences)
        )
        let users = clients.compactMap { client in
            try? VaultUser(ClientID(validating: client), validating: event.userID.rawValue)
        }
        let page = try vault.note(
            change, ofAllTokensOf: users, at: verifying.session.world.clocks.now())
        if page.isEmpty { verifying.session.console.note("the vault has nothing of this user") }
        return page
    }

    /// The tokens of the user as they are now.
    private func result(_ page: VaultPage) -> JSON {
        .array(
            page.records.map { record in
                .object(
                    record.user.members + [
                        .init(
                            "token_fingerprint",
                            record.id.fingerprint.map { .string($0.rawValue) } ?? .null),
                        record.stateMember,
                    ])
            })
    }

    private func verify(_ verifying: Verifying) async throws -> NotificationVerification {
        let token: CompactJWS
        do {
            let body = try verifying.session.secret(payload, "PAYLOAD", isWhole: true)
            token = try CompactJWS(notificationBody: body.bytes.revealed())
        } catch let error as NotificationBodyError {
            return NotificationVerification(impossible: .format, error.description)
        } catch let error as UnreadableSecret where error.cause.isTooLarge {
            return NotificationVerification(impossible: .format, error.cause.reason)
        }
        return try await verifying.verifier(for: token)
            .verify(notification: token, at: verifying.now)
    }
}

extension NotificationEvent {
    /// What it means for a stored token; nil when nothing.
    fileprivate var vaultEvent: VaultEvent? {
        switch kind {
        case .consentRevoked: .consentRevoked(at: occurredAt)
        case .accountDeleted: .accountDeleted(at: occurredAt)
        default: nil
        }
    }
}
