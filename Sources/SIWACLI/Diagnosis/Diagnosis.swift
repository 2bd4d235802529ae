internal import CommandTable
internal import LocalFiles
internal import SignInWithApple

/// Any error, brought to what a person reads and a script branches on.
struct Diagnosis: Sendable {
    /// One word: Apple's own code where Apple refused.
    let code: String
    /// What happened.
    let message: String
    /// What to do, the likeliest cause first.
    let hints: [String]
    private(set) var exitCode: ExitCode
    /// Apple's answer, where there was one.
    var status: Int?
    var apple: AppleError?
    /// Apple's id of the request, which its support asks for.
    var requestID: String?

    init(
        _ code: String, _ message: String, hints: [String], exitCode: ExitCode, status: Int? = nil,
        apple: AppleError? = nil, requestID: String? = nil
    ) {
        self.code = code
        self.message = maskingSecrets(in: message)
        self.hints = hints.map { maskingSecrets(in: $0) }
        self.exitCode = exitCode
        self.status = status
        self.apple = apple
        self.requestID = requestID
    }

    /// Diagnoses the error of a command that a signal may have asked to end: the exit code is the
    /// signal's, unless a code was sent and Apple did not answer.
    init(_ error: any Error, after signal: CInt?) {
        self.init(error)
        guard let signal else { return }
        let error = error as? RequestError
        if error?.failure.isOutcomeUnknown != true { exitCode = ExitCode(signal: signal) }
    }

    init(_ error: any Error) {
        self =
            switch error {
            case let error as UsageError:
                Self("usage", error.message, hints: error.hints, exitCode: .usage)
            case let error as SettingsError:
                Self(
                    error.subject.rawValue, error.message, hints: error.hints,
                    exitCode: error.subject == .usage ? .usage : .settings)
            case let error as UnreadableSecret:
                Self(
                    "configuration", error.message, hints: ["name a file that can be read: @PATH"],
                    exitCode: .settings)
            case let error as RequestError: Self(error)
            case let error as BatchStopped: error.diagnosis
            case let error as BatchFailure: error.diagnosis
            case let error as ResumeMismatch: error.diagnosis
            case let error as OutputNotEmpty: error.diagnosis
            case let error as BrokenVault: error.diagnosis
            case let error as PartialResult: error.diagnosis
            case is NotTried:
                Self(
                    "interrupted", "a signal came before this token was tried",
                    hints: ["run it again"], exitCode: .temporary)
            case let error as KeySetError: Self(error)
            case let error as VaultError: Self(error)
            case let error as NotStored: error.diagnosis
            case let error as AbsentMember: Self(error)
            case let error as NegativeAnswer:
                Self(
                    error.code, error.message, hints: error.hints, exitCode: .no,
                    requestID: error.requestID)
            case let error as ClientSecretError: Self(error)
            case let error as UndeliveredResult: Self(error)
            case let error as Interruption: Self(error)
            case let error as FileError: Self(error)
            default: Self(defect: error)
            }
    }

    /// The text form: one line, then the hints. Names from files and answers are in them.
    var lines: [String] {
        (["siwa: \(code): \(message)"] + hints.map { "hint: \($0)" })
            .map { printable($0, limit: 1000) }
    }

    /// The JSON form, on one line.
    var json: JSON {
        var members: [JSON.Member] = [
            .init("code", .string(code)), .init("message", .string(message)),
            .init("hints", .array(hints.map { .string($0) })),
            .init("exit_code", .integer(Int(exitCode.rawValue))),
        ]
        if let status { members.append(.init("http_status", .integer(status))) }
        if let apple {
            var answer = [JSON.Member("error", .string(apple.code.rawValue))]
            if let detail = apple.detail {
                answer.append(.init("error_description", .string(detail)))
            }
            members.append(.init("apple", .object(answer)))
        }
        if let requestID { members.append(.init("apple_request_id", .string(requestID))) }
        return ["error": .object(members)]
    }
}

/// The answer is no: nothing went wrong, but a script must branch.
struct NegativeAnswer: Error, Sendable {
    let code: String
    let message: String
    let hints: [String]
    /// Apple's id of the request that was answered so; nil where no request was made.
    let requestID: String?

    init(_ code: String, _ message: String, hints: [String], requestID: String? = nil) {
        self.code = code
        self.message = message
        self.hints = hints
        self.requestID = requestID
    }
}

extension ClientSecretError {
    static let tooLongWords =
        "Apple accepts a client_secret for at most 15777000 s (six months, 182d14h30m)"
}

extension Diagnosis {
    private init(_ error: AbsentMember) {
        self.init(
            "absent_member", "the result has no member '\(printable(error.name))'",
            hints: didYouMean(error.name, among: error.present)
                + ["it has: \(error.present.joined(separator: ", "))"], exitCode: .no)
    }

    private init(_ error: ClientSecretError) {
        switch error {
        case .tooShort:
            self.init(
                "usage", "the lifetime of a client_secret must be at least a second",
                hints: ["give --lifetime or secret_lifetime a longer duration"], exitCode: .usage)
        case .tooLong:
            self.init(
                "usage", ClientSecretError.tooLongWords,
                hints: ["180d is inside the limit; a rotation by cron needs far less"],
                exitCode: .usage)
        case .signing(let reason):
            self.init(
                "key", "the private key cannot sign: \(reason)",
                hints: ["download the .p8 again: this one is damaged"], exitCode: .settings)
        case .expired(let time):
            self.init(
                "client_secret", "the client_secret expired at \(time.rfc3339)",
                hints: ["mint a new one where the private key is: 'siwa secret --lifetime 30d'"],
                exitCode: .settings)
        case .otherClient(let clientID):
            self.init(
                "client_secret", "the client_secret is not for the client \(clientID)",
                hints: ["give --client-secret one whose sub is \(clientID)"], exitCode: .settings)
        case .unusable(let faults):
            self.init(
                "client_secret",
                "the client_secret cannot be used: \(faults.first?.seen ?? "claims are missing")",
                hints: faults.map(\.hint), exitCode: .settings)
        }
    }

    private init(_ error: Interruption) {
        let exitCode = ExitCode(signal: error.signal)
        self.init(
            "stopped", "\(exitCode.meaning.dropLast()), after \(error.achievement)",
            hints: [error.hint], exitCode: exitCode)
    }

    private init(_ error: UndeliveredResult) {
        let reason =
            error.reason.isClosedPipe
            ? "nobody reads standard output" : error.reason.description
        self.init(
            "not_delivered", (error.deed.map { "\($0.words), but " } ?? "") + reason,
            hints: [error.deed?.hint ?? "fix standard output, then run it again"],
            exitCode: .notDelivered)
    }

    private init(_ error: FileError) {
        guard !error.isLostOutput else {
            self.init(
                "not_delivered", error.description, hints: ["make room, then run it again"],
                exitCode: .notDelivered)
            return
        }
        self.init(
            error.isTemporary ? "temporary" : "configuration", error.description,
            hints: error.advice,
            exitCode: error.isTemporary ? .temporary : .settings)
    }

    private init(defect error: any Error) {
        self.init(
            "defect", "siwa met an error it does not know: \(type(of: error))",
            hints: ["please report it with the output of the same command and -v"],
            exitCode: .defect)
    }
}

extension FileError {
    /// What to do about it.
    fileprivate var advice: [String] {
        if isTemporary { return ["make room, then run it again"] }
        if isNotEmpty { return ["name a new file"] }
        return [
            "name a path that can be used"
                + (isDenied ? ", in a folder that may be written to" : "")
        ]
    }
}
