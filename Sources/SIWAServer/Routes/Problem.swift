package import HTTPServer
package import JOSE
package import Lifecycle
package import SIWACLI

/// An error response of the API (problem details, RFC 9457).
package struct Problem: Error, Sendable, CustomStringConvertible {
    /// The status code.
    package let status: Int
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
    var requestID: String?

    /// What happened.
    package var description: String { detail }

    /// Creates a problem.
    package init(
        _ status: Int, _ code: String, _ detail: String, hints: [String] = [],
        exitCode: ExitCode = .usage, retryAfter: Duration? = nil
    ) {
        (self.status, self.code, self.detail) = (status, code, detail)
        (self.hints, self.exitCode) = (hints, exitCode)
        self.retryAfter = retryAfter ?? (Self.temporary.contains(status) ? .seconds(1) : nil)
    }

    /// Converts an error of a command.
    package init(_ diagnosis: Diagnosis) {
        self.init(
            Self.status(of: diagnosis), diagnosis.code, diagnosis.message, hints: diagnosis.hints,
            exitCode: diagnosis.exitCode, retryAfter: diagnosis.retryAfter)
        members = diagnosis.answer
        requestID = diagnosis.requestID
    }

    private static let temporary = [429, 503]

    private static let statuses = [
        "unauthorized": 401, "forbidden": 403, "not_found": 404, "code_may_be_spent": 409,
        "code_already_sent": 409, "code_conflict": 409, "revocation_pending": 409,
        "token_may_work": 409, "identity_token_invalid": 422,
        "throttled": 429,
    ]

    private static func status(of diagnosis: Diagnosis) -> Int {
        if let status = statuses[diagnosis.code] { return status }
        if diagnosis.isRetryable { return 503 }
        return switch diagnosis.exitCode {
        case .usage: 400
        case .clientRefused: 502
        case .grantRefused, .requestRefused, .no: 422
        case .outcomeUnknown: 409
        default: 500
        }
    }

    /// The response with problem details (RFC 9457) as its body.
    package var response: ServerResponse {
        let own: [JSON.Member] = [
            .init("type", .string("about:blank")),
            .init("title", .string(Self.title(of: status))), .init("status", .integer(status)),
            .init("detail", .string(detail)), .init("code", .string(code)),
            .init("hints", .array(hints.map { .string($0) })),
            .init("exit_code", .integer(Int(exitCode.rawValue))),
            .init("retryable", .boolean(retryAfter != nil)),
        ]
        let seconds = retryAfter.map { Int($0.components.seconds) }
        return ServerResponse(
            status: status,
            fields: [HTTPField("Content-Type", "application/problem+json")] + fields
                + (seconds.map { [HTTPField("Retry-After", String(max($0, 1)))] } ?? []),
            body: .bytes(JSON.object(own + members).bytes))
    }

    /// The reason phrase of a status (RFC 9110 §15).
    static func title(of status: Int) -> String {
        titles[status] ?? (status < 500 ? "Client Error" : "Server Error")
    }

    private static let titles = [
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 409: "Conflict", 410: "Gone",
        413: "Content Too Large", 415: "Unsupported Media Type", 422: "Unprocessable Content",
        429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
    ]
}
