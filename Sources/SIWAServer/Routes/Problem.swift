package import SIWAApplication
package import SIWAHTTPServer
package import SIWAJOSE
package import SIWALifecycle

/// An error response of the API (problem details, RFC 9457).
package struct Problem: Error, Sendable, CustomStringConvertible {
    package let status: APIStatus
    /// The error code, for programs.
    package let code: String
    /// What happened.
    package let detail: String
    /// What to do, the most likely cause first.
    package let hints: [String]
    /// The exit code that a command would have.
    package let exitCode: ExitCode
    /// How long to wait before repeating the request; nil if repeating it cannot help.
    package let retryAfter: Duration?
    /// Additional header fields of the response.
    package var fields: [HTTPField] = []
    /// Additional members of the body.
    package var members: [JSON.Member] = []
    /// Apple's id of the request that failed, for the log.
    private(set) var requestID: String?
    /// The user id in ``detail``, for the log.
    private(set) var userID: String?

    /// What happened.
    package var description: String { detail }

    /// Creates a problem.
    package init(
        _ status: APIStatus, _ code: String, _ detail: String, hints: [String] = [],
        exitCode: ExitCode = .usage, retryAfter: Duration? = nil
    ) {
        (self.status, self.code, self.detail) = (status, code, detail)
        (self.hints, self.exitCode) = (hints, exitCode)
        self.retryAfter = retryAfter ?? (status.isTemporary ? .seconds(1) : nil)
    }

    /// Converts an error of a command.
    package init(_ diagnosis: Diagnosis) {
        self.init(
            diagnosis.apiStatus, diagnosis.code, diagnosis.message, hints: diagnosis.hints,
            exitCode: diagnosis.exitCode, retryAfter: diagnosis.retryAfter)
        members = diagnosis.answer
        (requestID, userID) = (diagnosis.requestID, diagnosis.userID)
    }

    /// The response with problem details (RFC 9457) as its body.
    package var response: ServerResponse {
        let own: [JSON.Member] = [
            .init("type", .string("about:blank")),
            .init("title", .string(status.title)), .init("status", .integer(status.rawValue)),
            .init("detail", .string(detail)), .init("code", .string(code)),
            .init("hints", .array(hints.map { .string($0) })),
            .init("exit_code", .integer(Int(exitCode.rawValue))),
            .init("retryable", .boolean(retryAfter != nil)),
        ]
        let seconds = retryAfter.map { Int($0.components.seconds) }
        return ServerResponse(
            status: status.rawValue,
            fields: [HTTPField("Content-Type", "application/problem+json")] + fields
                + (seconds.map { [HTTPField("Retry-After", String(max($0, 1)))] } ?? []),
            body: .bytes(JSON.object(own + members).bytes))
    }
}
