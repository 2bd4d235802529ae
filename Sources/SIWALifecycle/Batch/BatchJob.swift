package import SIWAJOSE

/// The work on each item of a run: which requests it needs, and what the answers mean. A pure
/// value; ``BatchRun`` waits, counts and repeats.
package protocol BatchJob: Sendable {
    /// One item, with the progress of its requests.
    associatedtype Item: Sendable
    /// The content of a 2xx response.
    associatedtype Answer: Sendable
    /// The result of an item.
    associatedtype Outcome: Sendable

    /// A request that all items wait for, such as one for a bearer token; nil if no such request is
    /// needed. Called before every item.
    mutating func preparation(at now: NumericDate) throws(ClientSecretError) -> HTTPRequest?

    /// Takes a 2xx response to a preparation; false if it cannot be used.
    mutating func takePreparation(_ response: HTTPResponse, at now: NumericDate) -> Bool

    /// The next request about an item.
    mutating func request(
        for item: inout Item, at now: NumericDate
    ) throws(ClientSecretError) -> HTTPRequest

    /// Reads a 2xx response; nil if it is not one of Apple's.
    func read(_ response: HTTPResponse, for item: Item) -> Answer?

    /// What an answer means for its item. Refusals that concern the client have stopped the run
    /// before.
    mutating func conclude(
        _ answer: ItemOutcome<Answer>, for item: inout Item, at now: NumericDate
    ) -> BatchVerdict<Outcome>
}

extension BatchJob {
    /// Most jobs need no preparation.
    package mutating func preparation(
        at now: NumericDate
    ) throws(ClientSecretError) -> HTTPRequest? { nil }

    /// Most jobs need no preparation.
    package mutating func takePreparation(_ response: HTTPResponse, at now: NumericDate) -> Bool {
        true
    }
}

/// What an answer means for an item, or for all of them.
package enum BatchVerdict<Outcome: Sendable>: Sendable {
    /// The item is finished, whether it was done or refused.
    case finished(Outcome)
    /// The item was refused, which may concern all items. Its result is held until the run's
    /// ``RefusalBrake`` believes it, and dropped if the run stops before.
    case held(Outcome)
    /// The item is finished, and says nothing about others: the brake does not count it.
    case aside(Outcome)
    /// The item has another request to make.
    case next
    /// Every item would get this answer: the run stops.
    case stop(AppleError)
}

/// How an item of a run ended.
package enum BatchResult<Outcome: Sendable>: Sendable {
    /// Apple accepted or refused it.
    case answered(Outcome)
    /// All attempts failed.
    case failed(TokenFailure.Cause, attempts: Int)
    /// The item was not sent: its deadline passed before an attempt.
    case late
}

/// How a whole run ended.
package enum BatchEnd: Sendable {
    /// Every item has its result.
    case completed
    /// Every further item would meet this.
    case stopped(TokenFailure.Cause)
    /// No request succeeded for too long; `cause` is the last failure.
    case gaveUp(TokenFailure.Cause)
    /// Apple asks for a wait that is longer than the run may take.
    case askedToWait(Duration)
    /// The run was asked to stop.
    case interrupted
    /// Too many of the last answers were refusals.
    case tooManyRefused(refused: Int, of: Int)
}
