/// What a run does about each of its items: which requests it puts to Apple, and what the
/// answers mean. A pure value; ``BatchRun`` does the waiting and the counting.
public protocol BatchJob: Sendable {
    /// One item, and how far its business has come.
    associatedtype Item: Sendable
    /// What came of an item.
    associatedtype Outcome: Sendable

    /// A request without which no item can go on, such as one for a bearer token; nil when
    /// nothing is missing. Asked before every item, answered by ``takePreparation(_:at:)``.
    mutating func preparation(at now: NumericDate) throws(ClientSecretError) -> HTTPRequest?

    /// Takes the answer to a preparation. Nil when all is well.
    mutating func takePreparation(
        _ response: HTTPResponse, at now: NumericDate
    ) -> BatchVerdict<Outcome>?

    /// The next request about an item, which may note with what it went.
    mutating func request(
        for item: inout Item, at now: NumericDate
    ) throws(ClientSecretError) -> HTTPRequest

    /// What an answer means; it may bring the item to its next request.
    mutating func judge(
        _ response: HTTPResponse, for item: inout Item, at now: NumericDate
    ) -> BatchVerdict<Outcome>
}

extension BatchJob {
    /// Most jobs need no preparation.
    public mutating func preparation(
        at now: NumericDate
    ) throws(ClientSecretError) -> HTTPRequest? { nil }

    /// Most jobs need no preparation.
    public mutating func takePreparation(
        _ response: HTTPResponse, at now: NumericDate
    ) -> BatchVerdict<Outcome>? { nil }
}

/// What an answer means for an item, or for all of them.
public enum BatchVerdict<Outcome: Sendable>: Sendable {
    /// The item is done with, one way or the other.
    case finished(Outcome)
    /// The item was refused, which may be about all items. Its result is held until the run's
    /// ``RefusalBrake`` believes it, and dropped when the run stops before.
    case held(Outcome)
    /// The item has another request to make.
    case next
    /// The same request can fare better later.
    case trouble(TokenFailure.Cause)
    /// It would be the same for every item: the run stops.
    case stop(TokenFailure.Cause)
}

/// How an item of a run ended.
public enum BatchResult<Outcome: Sendable>: Sendable {
    /// Apple answered: yes, or no to this item.
    case answered(Outcome)
    /// What was wrong outlasted the attempts.
    case failed(TokenFailure.Cause, attempts: Int)
    /// The item may not be sent any more: its deadline passed before an attempt.
    case late
}

/// How a whole run ended.
public enum BatchEnd: Sendable {
    /// Every item has its result.
    case completed
    /// Something that would be the same for every item.
    case stopped(TokenFailure.Cause)
    /// Nothing was answered well for too long; `cause` is what came last.
    case gaveUp(TokenFailure.Cause)
    /// Apple asks for a wait that is longer than the run may take.
    case askedToWait(Duration)
    /// Somebody asked it to stop.
    case interrupted
    /// So many of the last answers were refusals that they are not believed.
    case tooManyRefused(refused: Int, of: Int)
}
