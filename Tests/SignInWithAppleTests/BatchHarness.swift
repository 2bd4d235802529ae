import SIWACrypto
import Synchronization
import Testing

@testable import SIWAJOSE
@testable import SIWALifecycle

/// The network, controlled by a test.
struct BatchHarness {
    var run: BatchRun<CountingJob>
    var inFlight: [Int: Int] = [:]
    var isFinished = false
    private let sunk = Sunk()

    var results: [String] { sunk.lines.withLock { $0 } }

    init(
        items: Int, concurrency: Int, maxAttempts: Int = 4, steps: Int = 1, ticketLasts: Int? = nil,
        doubts: Set<Int> = [], isSlow: Bool = false, pausesAfter: Int? = nil,
        brake: RefusalBrake.Rule = .afterSuccess,
        deadline: (@Sendable (CountingJob.Item) -> Duration)? = nil
    ) {
        let settings = BatchSettings(
            concurrency: concurrency, maxAttempts: maxAttempts, brake: brake,
            warnOfSilence: { [sunk] length in sunk.warnings.withLock { $0.append(length) } },
            isStopping: { [sunk] in sunk.isStopping.withLock { $0 } })
        let queue = Sunk()
        queue.next.withLock { $0 = isSlow ? -1 : 0 }
        run = BatchRun(
            CountingJob(steps: steps, ticketLasts: ticketLasts, doubts: doubts), settings: settings,
            calendar: { NumericDate(1_700_000_000) }, deadline: deadline,
            source: {
                queue.next.withLock { next in
                    if next == pausesAfter { return .pause }
                    next += 1
                    if next == 0 { return .notYet }
                    return next > items ? .end : .item(CountingJob.Item(number: next))
                }
            },
            sink: { [sunk] item, result in
                let text =
                    switch result {
                    case .answered: "done"
                    case .failed(_, let attempts): "failed after \(attempts)"
                    case .late: "late"
                    }
                sunk.lines.withLock { $0.append("\(item.number) \(text)") }
            })
    }

    var warnings: [Duration] { sunk.warnings.withLock { $0 } }

    func stop() { sunk.isStopping.withLock { $0 = true } }

    var isCompleted: Bool { if case .completed = run.end { isFinished } else { false } }

    mutating func startAll(at now: Duration) -> [Int] {
        var slots: [Int] = []
        while true {
            switch run.next(at: now) {
            case .send(let request, let slot, _):
                #expect(inFlight[slot] == nil)
                inFlight[slot] = Int(request.url) ?? 0
                slots.append(slot)
            case .wait: return slots
            case .finished:
                isFinished = true
                return slots
            }
        }
    }

    enum Answer {
        case ok, lost
        case page(Int)
        case error(String)
        case throttled(seconds: Int)
        case failure(TransportError.Kind)
    }

    mutating func answer(item: Int, _ answer: Answer, at now: Duration) {
        guard let slot = inFlight.first(where: { $0.value == item })?.key else {
            Issue.record("item \(item) is not in flight")
            return
        }
        self.answer(slot, answer, at: now)
    }

    mutating func answer(_ slot: Int, _ answer: Answer, at now: Duration) {
        inFlight[slot] = nil
        let result: Result<HTTPResponse, TransportError> =
            switch answer {
            case .ok: .success(HTTPResponse(status: 200))
            case .lost: .failure(TransportError(.connect, "refused", requestMayHaveLeft: false))
            case .page(let status): .success(HTTPResponse(status: status))
            case .error(let code):
                .success(HTTPResponse(status: 400, body: Array(#"{"error":"\#(code)"}"#.utf8)))
            case .throttled(let seconds):
                .success(
                    HTTPResponse(status: 429, fields: [HTTPField("Retry-After", "\(seconds)")]))
            case .failure(let kind):
                .failure(TransportError(kind, "no", requestMayHaveLeft: false))
            }
        run.take(result, for: slot, at: now)
    }
}

final class Sunk: Sendable {
    let lines = Mutex<[String]>([])
    let next = Mutex(0)
    let isStopping = Mutex(false)
    let warnings = Mutex<[Duration]>([])
}

/// Asks about numbers; a ticket that lasts for so many items has to be fetched before.
struct CountingJob: BatchJob {
    struct Item: Sendable {
        let number: Int
        var step = 1
    }

    let steps: Int
    let ticketLasts: Int?
    /// The items whose answers say nothing yet.
    let doubts: Set<Int>
    var ticketsLeft = 0

    init(steps: Int, ticketLasts: Int?, doubts: Set<Int>) {
        (self.steps, self.ticketLasts, self.doubts) = (steps, ticketLasts, doubts)
    }

    mutating func preparation(at now: NumericDate) throws(ClientSecretError) -> HTTPRequest? {
        ticketLasts != nil && ticketsLeft == 0 ? HTTPRequest(method: .post, url: "0") : nil
    }

    mutating func takePreparation(_ response: HTTPResponse, at now: NumericDate) -> Bool {
        ticketsLeft = ticketLasts ?? 0
        return true
    }

    mutating func request(
        for item: inout Item, at now: NumericDate
    ) throws(ClientSecretError) -> HTTPRequest {
        ticketsLeft -= 1
        return HTTPRequest(method: .post, url: "\(item.number)")
    }

    func read(_ response: HTTPResponse, for item: Item) -> Int? { item.number }

    mutating func conclude(
        _ answer: ItemOutcome<Int>, for item: inout Item, at now: NumericDate
    ) -> BatchVerdict<ItemOutcome<Int>> {
        if doubts.contains(item.number) { return .held(answer) }
        guard item.step < steps else { return .finished(answer) }
        item.step += 1
        return .next
    }
}
