import SIWAApplication
internal import SIWAJOSE
import SIWALifecycle

// The errors that only the API has.
extension Diagnosis {
    /// The code was sent and may have been used.
    static func codeMayBeSpent(_ message: String? = nil, hints: [String]? = nil) -> Diagnosis {
        Diagnosis(
            .codeMayBeSpent,
            message ?? "the code was sent, but it is unknown whether Apple exchanged it",
            hints: hints ?? ["ask the user to sign in again, and use the new code"],
            exitCode: .outcomeUnknown)
    }

    /// The code was exchanged, and the answer is no longer stored.
    static let codeAlreadySent = Diagnosis(
        .codeAlreadySent, "the code was sent to Apple more than ten minutes ago",
        hints: ["a code works once: use the answer to the first request, or ask for a new sign-in"],
        exitCode: .grantRefused, apiStatus: .conflict)

    /// A repetition has other parameters than the first request.
    static let codeConflict = Diagnosis(
        .codeConflict,
        "the code was sent before with another client, code_verifier, redirect_uri, nonce or store",
        hints: ["repeat the first request without changes; a code works once"], exitCode: .usage,
        apiStatus: .conflict)

    /// Another request with the same code takes too long.
    static let inProgress = Diagnosis(
        .inProgress, "another request is sending this code",
        hints: ["repeat the request: it gets the same answer"], exitCode: .temporary)

    /// A member of a request is invalid.
    static func malformed(_ member: String, _ fault: String) -> Diagnosis {
        Diagnosis(.invalidRequest, "\(member) \(fault)", hints: [], exitCode: .usage)
    }

    /// The requested object does not exist.
    static func notFound(
        _ message: String, hints: [String] = [], naming userID: UserID? = nil
    ) -> Diagnosis {
        Diagnosis(
            .notFound, message, hints: hints, exitCode: .no, apiStatus: .notFound,
            naming: userID?.rawValue)
    }
}

// Errors that are stored and read again.
extension Diagnosis {
    /// The members of ``json``, and the status for callers of the API.
    var stored: JSON {
        .object(
            (json["error"]?.members ?? []) + [.init("api_status", .integer(apiStatus.rawValue))])
    }

    /// Reads ``stored``; nil if it is not an error.
    init?(error: JSON) {
        guard let code = error["code"]?.string, let message = error["message"]?.string,
            let number = error["exit_code"]?.integer,
            let exitCode = CInt(exactly: number).flatMap(ExitCode.init(rawValue:))
        else { return nil }
        let status = error["http_status"]?.integer
        let apple = error["apple"].flatMap { AppleError($0, status: status ?? 0) }
        self.init(
            recorded: code, message, hints: (error["hints"]?.elements ?? []).compactMap(\.string),
            exitCode: exitCode, status: status, apple: apple,
            requestID: error["apple_request_id"]?.string,
            apiStatus: error["api_status"]?.integer.flatMap(APIStatus.init))
    }
}
