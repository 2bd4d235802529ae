internal import JOSE
internal import Lifecycle
package import SIWACLI

// The errors of the API that no command has; see `Problem` for their statuses.
extension Diagnosis {
    /// A code that was sent may have been used.
    static func codeMayBeSpent(_ message: String? = nil, hints: [String]? = nil) -> Diagnosis {
        Diagnosis(
            "code_may_be_spent",
            message ?? "the code was sent, and it is unknown whether Apple exchanged it",
            hints: hints ?? ["ask the user to sign in again, and use the new code"],
            exitCode: .outcomeUnknown)
    }

    /// A code was exchanged, and the answer is not kept any more.
    static let codeAlreadySent = Diagnosis(
        "code_already_sent", "the code was sent to Apple more than ten minutes ago",
        hints: ["a code works once: use the answer to the first request, or ask for a new sign-in"],
        exitCode: .grantRefused)

    /// A repeat has other parameters than the first request.
    static let codeConflict = Diagnosis(
        "code_conflict",
        "the code was sent before with another client, code_verifier, redirect_uri or nonce",
        hints: ["repeat the first request as it was; a code works once"], exitCode: .usage)

    /// Another request for the same thing takes too long.
    static let inProgress = Diagnosis(
        "in_progress", "another request sends this code at the moment",
        hints: ["repeat the request: it gets the same answer"], exitCode: .temporary)

    /// A member of a request cannot be used.
    package static func malformed(_ member: String, _ fault: String) -> Diagnosis {
        Diagnosis("invalid_request", "\(member) \(fault)", hints: [], exitCode: .usage)
    }

    /// What was asked for does not exist.
    package static func notFound(_ message: String, hints: [String] = []) -> Diagnosis {
        Diagnosis("not_found", message, hints: hints, exitCode: .no)
    }
}

// Errors that are kept and read again.
extension Diagnosis {
    /// Reads the member `error` of ``json``; nil if it is not one.
    init?(error: JSON) {
        guard let code = error["code"]?.string, let message = error["message"]?.string,
            let number = error["exit_code"]?.integer,
            let exitCode = CInt(exactly: number).flatMap(ExitCode.init(rawValue:))
        else { return nil }
        let status = error["http_status"]?.integer
        let apple = error["apple"].flatMap {
            AppleError(HTTPResponse(status: status ?? 0, body: $0.bytes))
        }
        self.init(
            code, message, hints: (error["hints"]?.elements ?? []).compactMap(\.string),
            exitCode: exitCode, status: status, apple: apple,
            requestID: error["apple_request_id"]?.string)
    }
}
