internal import SIWACommandTable
package import SIWAJOSE
package import SIWALifecycle
internal import SIWASystem

/// What an error means: the message and hints for a person, the code and exit code for a script.
package struct Diagnosis: Error, Sendable, CustomStringConvertible {
    /// An ``ErrorCode``, or Apple's own code if Apple refused.
    package let code: String
    /// What happened.
    package private(set) var message: String
    /// What to do, the likeliest cause first.
    package private(set) var hints: [String]
    /// What kind of error it is.
    package private(set) var exitCode: ExitCode
    /// The status of Apple's answer, if there was one.
    package var status: Int?
    /// Apple's refusal, if there was one.
    package var apple: AppleError?
    /// Apple's id of the request, which its support asks for.
    package var requestID: String?
    /// The requested wait before another attempt; nil if none was requested.
    package var retryAfter: Duration?
    /// The status with which siwa-server's API answers.
    package let apiStatus: APIStatus
    /// The user id in the message: not every log may show it.
    package private(set) var userID: String?

    /// What happened.
    package var description: String { message }

    /// Describes an error.
    ///
    /// - Parameters:
    ///   - apiStatus: nil for the usual one of the exit code.
    ///   - userID: the user id in the message; nil without one.
    package init(
        _ code: ErrorCode, _ message: String, hints: [String], exitCode: ExitCode,
        status: Int? = nil, apple: AppleError? = nil, requestID: String? = nil,
        apiStatus: APIStatus? = nil, naming userID: String? = nil
    ) {
        self.init(
            recorded: code.rawValue, message, hints: hints, exitCode: exitCode, status: status,
            apple: apple, requestID: requestID, apiStatus: apiStatus, naming: userID)
    }

    /// Describes an error whose code was received from Apple or read from a database.
    package init(
        recorded code: String, _ message: String, hints: [String], exitCode: ExitCode,
        status: Int? = nil, apple: AppleError? = nil, requestID: String? = nil,
        apiStatus: APIStatus? = nil, naming userID: String? = nil
    ) {
        self.code = code
        self.message = maskingSecrets(in: message)
        self.hints = hints.map { maskingSecrets(in: $0) }
        self.exitCode = exitCode
        self.status = status
        self.apple = apple
        self.requestID = requestID
        self.apiStatus = apiStatus ?? exitCode.apiStatus
        self.userID = userID
    }

    /// The same error in other words.
    func rewritten(hints: [String], _ rewrite: (String) -> String) -> Diagnosis {
        var diagnosis = self
        diagnosis.message = rewrite(message)
        diagnosis.hints = hints.map(rewrite)
        return diagnosis
    }

    /// Diagnoses the error of a command that a signal may have asked to end: the exit code is the
    /// signal's, unless a code was sent and Apple did not answer.
    package init(_ error: any Error, after signal: CInt?) {
        self.init(error)
        guard let signal else { return }
        let failure = (error as? RequestError)?.failure
        if failure?.isOutcomeUnknown != true { exitCode = ExitCode(signal: signal) }
    }

    /// Diagnoses any error; one that is not a ``DiagnosableError`` is a defect of siwa.
    package init(_ error: any Error) {
        self = (error as? any DiagnosableError)?.diagnosis ?? Self(defect: error)
    }

    private init(defect error: any Error) {
        self.init(
            .defect, "unknown error in siwa: \(error)",
            hints: ["please report it, with the output of the same command with -v"],
            exitCode: .defect)
    }

    /// The text form: one line, then the hints. Untrusted texts in them are made safe to show.
    package func lines(
        _ paint: Terminal.Paint, _ program: String
    ) -> [String] {
        let head = paint.painted("\(program): \(printable(code)):", .red)
        return ["\(head) \(printable(message, limit: 1000))"]
            + (hints + [pointer].compactMap(\.self)).map {
                "hint: \(printable($0, limit: 1000))"
            }
    }

    /// Where the catalogue explains the error; nil if the hints say it all.
    private var pointer: String? {
        guard let entry = ErrorCode(rawValue: code)?.entry, entry.hasMoreToSay else { return nil }
        return "see 'siwa help errors \(code)'"
    }

    /// The JSON form, on one line.
    package var json: JSON {
        [
            "error": .object(
                whatHappened + [
                    .init("hints", .array(hints.map { .string($0) })),
                    .init("exit_code", .integer(Int(exitCode.rawValue))),
                ] + answer)
        ]
    }

    /// The error in the line of an item, without hints; the exit code is another member.
    package var lineMember: JSON.Member { .init("error", .object(whatHappened + answer)) }

    private var whatHappened: [JSON.Member] {
        [.init("code", .string(code)), .init("message", .string(message))]
    }

    /// The members about Apple's answer, if there was one.
    package var answer: [JSON.Member] {
        var members: [JSON.Member] = []
        if let status { members.append(.init("http_status", .integer(status))) }
        if let apple {
            var answer = [JSON.Member("error", .string(apple.code.rawValue))]
            if let detail = apple.detail {
                answer.append(.init("error_description", .string(detail)))
            }
            members.append(.init("apple", .object(answer)))
        }
        if let requestID { members.append(.init("apple_request_id", .string(requestID))) }
        return members
    }
}

/// An error that provides its own message, hints and exit code.
package protocol DiagnosableError: Error, Sendable, CustomStringConvertible {
    var diagnosis: Diagnosis { get }
}

extension DiagnosableError {
    /// The message, so that no text shows the name of a type.
    package var description: String { diagnosis.message }
}

// Code can also throw a diagnosis directly.
extension Diagnosis: DiagnosableError {
    package var diagnosis: Diagnosis { self }

    /// A negative result: the command succeeded, but a script must branch.
    ///
    /// - Parameter requestID: Apple's id of the request, if one was sent.
    package static func negative(
        _ code: ErrorCode, _ message: String, hints: [String], requestID: String? = nil
    ) -> Diagnosis {
        Diagnosis(code, message, hints: hints, exitCode: .no, requestID: requestID)
    }

    /// The error as a member of one token's result.
    package var member: JSON.Member { .init("error", json["error"] ?? .null) }
}
