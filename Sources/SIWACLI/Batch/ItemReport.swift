internal import JOSE
internal import Lifecycle

/// What the line of an item says besides its number.
struct ItemReport: Sendable {
    let status: BatchStatus
    let exitCode: ExitCode
    let members: [JSON.Member]

    init(_ status: BatchStatus, _ exitCode: ExitCode, _ members: [JSON.Member]) {
        (self.status, self.exitCode, self.members) = (status, exitCode, members)
    }

    /// Apple refused the item.
    init(refused refusal: AppleError, _ request: RequestKind) {
        self.init(.refused, TokenFailure(cause: .refused(refusal), request: request, attempts: 1))
    }

    /// The same, with the fingerprint of the item's token in front.
    func identifying(_ fingerprint: String?) -> Self {
        guard let fingerprint else { return self }
        return Self(
            status, exitCode, [.init("token_fingerprint", .string(fingerprint))] + members)
    }

    init(failed cause: TokenFailure.Cause, _ attempts: Int, _ request: RequestKind) {
        self.init(.failed, TokenFailure(cause: cause, request: request, attempts: attempts))
    }

    /// Another run may have claimed the record.
    static let late = Self(
        .failed, .temporary,
        [.error("too_late", "it was not sent: its lease ended, and another run may have it")])

    private init(_ status: BatchStatus, _ failure: TokenFailure) {
        let diagnosis = Diagnosis(RequestError(failure: failure, context: nil))
        self.init(status, diagnosis.exitCode, [diagnosis.lineMember])
    }
}
