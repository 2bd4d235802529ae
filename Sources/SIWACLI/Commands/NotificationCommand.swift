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
        are printed, and with --print of any notification that is not valid.

        The event comes in one spelling: both words for the deletion come out as account-deleted, \
        and event_time, in seconds or milliseconds, as RFC 3339 writes it. An event siwa does not \
        know comes out as it is. Apple may send an event twice, under the same jti.
        """
    static let examples = [
        Example(
            "siwa notification - --print event < body.json",
            "Print what happened, if it is true that Apple says so.")
    ]
    static let parameters: [Parameter<Self>] =
        [.operand("PAYLOAD", \.$payload, help: "The body as it was posted, or the JWT in it.")]
        + VerificationOptions.parameters(at: \.verification)
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var verification = VerificationOptions()
    @Required var payload: SecretArgument

    func run(in world: World) async throws {
        let verifying = try Verifying(global, verification, in: world)
        try await verifying.report(verify(verifying), of: .notification) { token in
            let event = token.payload.normalizedEvent.map { [JSON.Member("event", $0)] } ?? []
            let id = token.payload["jti"].map { [JSON.Member("jti", $0)] } ?? []
            return event + id + [
                .init("header", token.header), .init("claims", token.payload.normalizedClaims),
            ]
        }
    }

    private func verify(_ verifying: Verifying) async throws -> NotificationVerification {
        let token: CompactJWS
        do {
            let body = try verifying.session.secret(payload, "PAYLOAD", isWhole: true)
            token = try CompactJWS(notificationBody: body.bytes.revealed())
        } catch let error as NotificationBodyError {
            return NotificationVerification(impossible: "format", error.description)
        } catch let error as UnreadableSecret where error.cause.isTooLarge {
            return NotificationVerification(impossible: "format", error.cause.reason)
        }
        return try await verifying.verifier(for: token)
            .verify(notification: token, at: verifying.now)
    }
}
