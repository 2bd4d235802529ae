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
    /// How long an answer may take, where that is not the usual time.
    var patience: Duration?
    /// When a token with an unknown `kid` was last sent: some backends then fetch no keys for a
    /// minute.
    var lastUnknownKey: ContinuousClock.Instant?
    /// What a genuine notification does to a session; nil before it is known.
    var notificationEffect: NotificationEffect?
    var manners = Manners()
    var users: [TestUser] = []
    /// The number of the latest request that is known.
    var latestNumber = 0
    package private(set) var results: [CheckResult] = []
    private var lastRequest: ContinuousClock.Instant?
    private var sinceGood = 0

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
        _ id: String, _ flow: Flow?, adviceReason: String? = nil, skip: String? = nil,
        _ body: () async throws -> [CheckResult.Variant]
    ) async throws {
        guard let check = Catalogue.check(id), let usual = check.severity else { return }
        let channel = flow.flatMap { channels[$0] }?.rawValue
        var adviceReason = adviceReason
        func result(
            _ result: CheckResult.Result, _ detail: String, _ variants: [CheckResult.Variant] = []
        ) -> CheckResult {
            CheckResult(
                check: check, severity: adviceReason == nil ? usual : .advice,
                flow: flow?.rawValue, channel: channel, result: result, detail: detail,
                variants: variants, adviceReason: adviceReason)
        }
        if let reason = options.reasonToSkip(check) ?? skip {
            return try add(result(.skipped, reason))
        }
        guard ContinuousClock.now - start < options.budget else {
            return try add(result(.inconclusive, "the budget was spent before it"))
        }
        let variants = try await body()
        let sent = variants.filter(\.isSent)
        if let open = sent.first(where: \.isOpen), !sent.contains(where: \.isWrong) {
            return try add(result(.inconclusive, open.outcome, variants))
        }
        let wrong =
            sent.first { $0.isWrong && $0.adviceReason == nil } ?? sent.first(where: \.isWrong)
        guard let shown = wrong ?? sent.first else {
            let reason = variants.first?.outcome ?? "nothing was sent"
            return try add(result(.skipped, reason, variants))
        }
        if shown.isWrong {
            adviceReason = adviceReason ?? shown.adviceReason
            let isAdvice = usual == .advice || adviceReason != nil
            try add(result(isAdvice ? .advice : .failed, shown.outcome, variants))
        } else if variants.contains(where: { $0.outcome.hasPrefix("429") }) {
            try add(result(.inconclusive, "the backend limits the rate: give a lower 'rate'"))
        } else {
            try add(result(.held, shown.outcome, variants))
        }
        try await countCheck(flow)
    }

    /// Has a good sign-in after every ten checks.
    private func countCheck(_ flow: Flow?) async throws {
        sinceGood += 1
        guard sinceGood >= 10 else { return }
        sinceGood = 0
        for flow in flows { try await requireGood(flow) }
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
    /// The backend went away.
    case gone

    package var description: String {
        switch self {
        case .goodSignIn(let flow, let outcome, _): "the good sign-in (\(flow)) fails: \(outcome)"
        case .noProof: "the backend was not seen to trust this emulator"
        case .gone: "the backend went away"
        }
    }
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
