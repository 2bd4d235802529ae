internal import SIWAApplication
import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords

/// What a check of a token found.
enum ValidationResult: String, Hashable, Sendable, CaseIterable {
    /// Apple accepted it.
    case active
    /// Apple refused it: it no longer works.
    case dead
    /// Apple refused the request for another reason.
    case refused
    /// No attempt got an answer that says something.
    case failed
    /// It was not sent: its lease ended, and another server may have it.
    case late
    /// It cannot be decrypted.
    case unreadable
}

/// Why a run of the validation ended early.
enum ValidationStop: String, Hashable, Sendable, CaseIterable {
    /// Most of the last answers were refusals.
    case tooManyRefused = "too_many_refused"
    /// Apple refuses the client, or no secret can be minted.
    case client
    /// Apple did not answer, or asked for a long wait.
    case noAnswer = "no_answer"
    /// The database was unavailable.
    case database
}

/// How far this server has come in the current pass: a pure value.
struct ValidationProgress: Sendable {
    /// The work on the tokens of a client.
    private struct Work: Sendable {
        var isRunning = false
        /// The begin of the last pass in which nothing was left to do for this server.
        var ended: NumericDate?
        /// Not begun again before this time by the monotonic clock.
        var notBefore = Duration.zero
        /// Why the last run ended early; nil if it did not.
        var fault: String?
    }

    private var works: [ClientID: Work] = [:]
    private var began: NumericDate?
    private var results: [ValidationResult: Int] = [:]

    /// Notes that a pass is going on. The counts are those of one pass.
    mutating func take(_ pass: ValidationPass) {
        guard pass.began != began else { return }
        (began, results) = (pass.began, [:])
    }

    /// Whether to begin with a client now.
    mutating func begin(_ clientID: ClientID, _ pass: ValidationPass, at now: Duration) -> Bool {
        var work = works[clientID] ?? Work()
        guard !work.isRunning, work.ended != pass.began, work.notBefore <= now else { return false }
        work.isRunning = true
        works[clientID] = work
        return true
    }

    /// Counts a result.
    mutating func count(_ result: ValidationResult, of clientID: ClientID) {
        results[result, default: 0] += 1
        if result == .active { works[clientID]?.fault = nil }
    }

    /// Notes that nothing is left to do in a pass.
    mutating func complete(_ clientID: ClientID, _ pass: ValidationPass) {
        works[clientID] = Work(ended: pass.began)
    }

    /// Notes that a run ended early.
    ///
    /// - Parameters:
    ///   - fault: why, as the end of a sentence; nil if the status says it elsewhere.
    ///   - moment: when to go on; nil for the next pass.
    mutating func stop(
        _ clientID: ClientID, _ pass: ValidationPass, _ fault: String?, until moment: Duration?
    ) {
        works[clientID] = Work(
            ended: moment == nil ? pass.began : nil, notBefore: moment ?? .zero, fault: fault)
    }

    /// Notes that a run was interrupted.
    mutating func interrupt(_ clientID: ClientID) { works[clientID]?.isRunning = false }

    /// What the status shows.
    func facts(_ settings: ValidationSettings) -> ServerFacts.Validation {
        var facts = ServerFacts.Validation(
            everySeconds: Int(settings.interval.components.seconds),
            perSecond: settings.perSecond)
        facts.beganAt = began
        facts.checked = (results[.active] ?? 0) + (results[.dead] ?? 0)
        facts.dead = results[.dead] ?? 0
        facts.failed = results.reduce(0) { $0 + $1.value } - facts.checked
        facts.faults = works.compactMap { client, work in
            work.fault.map { ServerFacts.ValidationFault(clientID: client.rawValue, reason: $0) }
        }.sorted { $0.clientID < $1.clientID }
        return facts
    }
}
