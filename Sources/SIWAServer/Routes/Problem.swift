import SIWAApplication
import SIWAHTTPServer
import SIWAJOSE
import SIWALifecycle

/// An error response of the API (problem details, RFC 9457).
struct Problem: Error, Sendable, CustomStringConvertible {
    let status: APIStatus
    /// The error code, for programs.
    let code: String
    /// What happened.
    private(set) var detail: String
    /// What to do, the most likely cause first.
    private(set) var hints: [String]
    /// The exit code that a command would have.
    let exitCode: ExitCode
    /// How long to wait before repeating the request; nil if repeating it cannot help.
    let retryAfter: Duration?
    /// Additional header fields of the response.
    var fields: [HTTPField] = []
    /// Additional members of the body.
    var members: [JSON.Member] = []
    /// Apple's id of the request that failed, for the log.
    private(set) var requestID: String?
    /// The user id in ``detail``, for the log.
    private(set) var userID: String?

    /// What happened.
    var description: String { detail }

    /// Creates a problem.
    init(
        _ status: APIStatus, _ code: ErrorCode, _ detail: String, hints: [String] = [],
        exitCode: ExitCode = .usage, retryAfter: Duration? = nil
    ) {
        self.init(
            status, recorded: code.rawValue, detail, hints: hints, exitCode: exitCode,
            retryAfter: retryAfter)
    }

    /// Creates a problem whose code is the result of a notification, or that of an error.
    init(
        _ status: APIStatus, recorded code: String, _ detail: String, hints: [String] = [],
        exitCode: ExitCode = .usage, retryAfter: Duration? = nil
    ) {
        (self.status, self.code, self.detail) = (status, code, detail)
        (self.hints, self.exitCode) = (hints, exitCode)
        self.retryAfter = retryAfter ?? (status.isTemporary ? .seconds(1) : nil)
    }

    /// Converts an error of a command.
    init(_ diagnosis: Diagnosis) {
        self.init(
            diagnosis.apiStatus, recorded: diagnosis.code, diagnosis.message,
            hints: diagnosis.hints, exitCode: diagnosis.exitCode, retryAfter: diagnosis.retryAfter)
        members = diagnosis.answer
        (requestID, userID) = (diagnosis.requestID, diagnosis.userID)
    }

    /// The same problem, with the files and commands that a person can use.
    func shown(in words: ServiceWords) -> Problem {
        var problem = self
        problem.detail = words.shown(detail)
        problem.hints = hints.map(words.shown)
        return problem
    }

    /// The response with problem details (RFC 9457) as its body.
    var response: ServerResponse {
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
