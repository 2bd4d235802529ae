internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// One run of all checks against one backend.
package final class ConformRun {
    let file: ConformFile
    let options: RunOptions
    let apple: any Apple
    let transport: any BackendTransport
    /// Called with each result, as its check ends.
    let report: (CheckResult) throws -> Void
    /// Called with what a person who waits should know.
    let note: (String) -> Void
    let runName: String
    let start = ContinuousClock.now
    var channels: [Flow: Channel] = [:]
    /// Why a bad token's refusal would say nothing.
    var closedDoors: [Flow: String] = [:]
    /// Whether the good sign-in exchanges its code.
    var exchanges: [Flow: Bool] = [:]
    /// Whether the web flow asks Apple for a nonce.
    var sendsWebNonce = false
    /// Whether the callback is a POST.
    var postsCallback = false
    /// Whether it has an identity token beside the code.
    var postsToken = false
    /// How long an answer may take, where that is not the usual time.
    var patience: Duration?
    /// When a token with an unknown `kid` was last sent: some backends then fetch no keys for a
    /// minute.
    var lastUnknownKey: ContinuousClock.Instant?
    /// The account that `whoami` names to a stranger, which is none.
    var anonymous: String?
    /// What a genuine notification does to a session; nil before it is known.
    var notificationEffect: NotificationEffect?
    var manners = Manners()
    var users: [TestUser] = []
    /// The number of the latest request that is known.
    var latestNumber = 0
    package private(set) var results: [CheckResult] = []
    private var lastRequest: ContinuousClock.Instant?
    private var sinceGood = 0
    /// The first result after the last good sign-ins.
    private var firstDoubtful = 0

    package init(
        _ file: ConformFile, _ options: RunOptions, apple: any Apple,
        transport: any BackendTransport, note: @escaping (String) -> Void,
        report: @escaping (CheckResult) throws -> Void
    ) throws {
        (self.file, self.options, self.apple) = (file, options, apple)
        (self.transport, self.note, self.report) = (transport, note, report)
        runName = try Random.bytes(4).hexadecimal
    }

    /// The flows that the file describes.
    var flows: [Flow] {
        (file.signIn == nil ? [] : [.native]) + (file.web == nil ? [] : [.web])
    }

    /// The `sub` of every user of this run.
    package var subjects: [String] { users.map(\.subject) }

    /// The addresses of the users of this run, which are numbered; nil if there is none.
    package var addresses: String? {
        guard let first = users.first, let last = users.last else { return nil }
        return "\(first.email) to \(last.email)"
    }

    /// Runs every check.
    ///
    /// - Throws: ``ConformError`` if the good sign-in fails, and the errors of `report`.
    package func run() async throws {
        let first = try await latestRequest()
        for flow in flows { try await waitForGood(flow) }
        try await prove(since: first)
        for flow in flows { try await checkWhoami(flow) }
        for flow in flows { try await calibrate(flow) }
        // Before any unknown kid, after which a backend may fetch no keys for a while.
        try await checkNewKey()
        for flow in flows {
            try await checkTokens(flow)
            try await checkRequests(flow)
            if flow == .web { try await checkWeb() }
            try await checkCodes(flow)
        }
        try await checkTraffic()
        try await checkNotifications()
        try await checkDeletion()
        try await checkManners()
        for flow in flows { try await requireGood(flow) }
        try skipOthers()
    }

    /// Lists the checks of the parts that the file leaves out.
    private func skipOthers() throws {
        let listed = Set(results.map(\.check.id))
        for check in Catalogue.conform where !listed.contains(check.id) {
            let part = check.group == "W" ? "web" : "sign_in"
            let reason = options.reasonToSkip(check) ?? "the file has no '\(part)'"
            let severity = check.severity ?? .advice
            try add(
                CheckResult(
                    check: check, severity: severity, flow: nil, channel: nil, result: .skipped,
                    detail: "", variants: []
                ).skipped(.missing(reason)))
        }
    }

    /// Records a result, and reports it.
    func add(_ result: CheckResult) throws {
        results.append(result)
        try report(result)
    }

    /// Carries out a check unless it is skipped or the budget is spent.
    ///
    /// - Parameter adviceReason: why a failure is no more than advice in this run; nil if the
    ///   catalogue decides.
    func check(
        _ id: String, _ flow: Flow?, adviceReason: String? = nil, skip: CheckResult.Skip? = nil,
        _ body: () async throws -> [CheckResult.Variant]
    ) async throws {
        guard let check = Catalogue.check(id), let usual = check.severity else { return }
        let empty = CheckResult(
            check: check, severity: adviceReason == nil ? usual : .advice, flow: flow?.rawValue,
            channel: flow.flatMap { channels[$0] }?.rawValue, result: .skipped, detail: "",
            variants: [], adviceReason: adviceReason)
        if let skip = options.reasonToSkip(check).map(CheckResult.Skip.missing) ?? skip {
            return try add(empty.skipped(skip))
        }
        guard ContinuousClock.now - start < options.budget else {
            return try add(empty.inconclusive("the budget was spent before it"))
        }
        do {
            try add(empty.judged(by: await body()))
        } catch let doubt as NotJudged {
            return try add(empty.inconclusive(doubt.reason))
        }
        try await countCheck()
    }

    /// Has a good sign-in after every ten checks.
    private func countCheck() async throws {
        sinceGood += 1
        guard sinceGood >= 10 else { return }
        sinceGood = 0
        for flow in flows { try await requireGood(flow) }
        firstDoubtful = results.count
    }

    /// Says of what was held since the last good sign-ins that it proves nothing: good ones were
    /// refused for a while, too.
    func doubtHeld() throws {
        for index in results.indices.dropFirst(firstDoubtful) where results[index].result == .held {
            results[index] = results[index].inconclusive(
                "good sign-ins were refused for a while, too")
            try report(results[index])
        }
    }

    /// Waits until the next request may be sent.
    func pace() async throws {
        if let last = lastRequest {
            let next = last + file.interval
            if next > .now { try await Task.sleep(until: next, clock: .continuous) }
        }
        lastRequest = .now
    }
}

/// Why a run cannot go on.
package enum ConformError: Error, CustomStringConvertible {
    /// The good sign-in fails, with what helps to find out why.
    case goodSignIn(flow: String, outcome: String, hints: [String])
    /// The target was not seen to trust this emulator.
    case noProof
    /// `whoami` cannot tell accounts apart.
    case whoami(String)
    /// The backend went away.
    case gone

    package var description: String {
        switch self {
        case .goodSignIn(let flow, let outcome, _): "the good sign-in (\(flow)) fails: \(outcome)"
        case .noProof: "the backend was not seen to trust this emulator"
        case .whoami(let reason): "'whoami' \(reason)"
        case .gone: "the backend went away"
        }
    }
}

/// Why a check cannot be judged.
struct NotJudged: Error, CustomStringConvertible {
    let reason: String

    var description: String { reason }
}

/// Answers that no request may have, collected from all requests.
struct Manners {
    var errors: [String] = []
    var slow: [String] = []
    var cut: [String] = []
    var sent = 0

    /// These manners with all that `later` has but its errors and late answers, which a fault of
    /// Apple's may well cause.
    func excusing(_ later: Self) -> Self {
        Self(errors: errors, slow: slow, cut: later.cut, sent: later.sent)
    }
}
