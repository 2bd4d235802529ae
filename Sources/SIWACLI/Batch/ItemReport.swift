internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle

/// The result of an item.
struct ItemReport: Sendable {
    let status: BatchStatus
    let exitCode: ExitCode
    /// Their names are not among ``BatchLayout/reservedNames``.
    let members: [JSON.Member]
    /// The user of a migration in Apple's answer; nil without an answer.
    let user: MigratedUser?
    /// The member `error`; nil if there was no error.
    let error: JSON.Member?

    init(
        _ status: BatchStatus, _ exitCode: ExitCode, _ members: [JSON.Member] = [],
        user: MigratedUser? = nil, error: JSON.Member? = nil
    ) {
        (self.status, self.exitCode, self.members) = (status, exitCode, members)
        (self.user, self.error) = (user, error)
    }

    /// Apple refused the item.
    init(refused refusal: AppleError, _ request: RequestKind) {
        self.init(.refused, TokenFailure(cause: .refused(refusal), request: request, attempts: 1))
    }

    /// The same result, naming the client, and the server and the teams if they need it.
    func naming(_ origin: BatchOrigin?, _ own: ClientID?) -> Self {
        var members = members
        origin?.complete(&members, own)
        return Self(status, exitCode, members, user: user, error: error)
    }

    /// The same result, with the fingerprint of the item's token in front.
    func identifying(_ fingerprint: String?) -> Self {
        guard let fingerprint else { return self }
        return Self(
            status, exitCode, [.init("token_fingerprint", .string(fingerprint))] + members,
            user: user, error: error)
    }

    init(failed cause: TokenFailure.Cause, _ attempts: Int, _ request: RequestKind) {
        self.init(.failed, TokenFailure(cause: cause, request: request, attempts: attempts))
    }

    /// Another run may have claimed the record.
    static let late = Self(
        .failed, .temporary,
        error: .error(
            .tooLate, "it was not sent: its lease ended, and another run may have it"))

    private init(_ status: BatchStatus, _ failure: TokenFailure) {
        let diagnosis = Diagnosis(RequestError(failure: failure, context: nil))
        self.init(status, diagnosis.exitCode, error: diagnosis.lineMember)
    }
}
