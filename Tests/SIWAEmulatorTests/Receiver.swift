import SIWAEmulator
import SIWALifecycle
import Synchronization

/// A client's receiver of notifications, without a socket: gives the configured answers, and
/// remembers what it got. No time passes while the emulator waits.
final class Receiver: Transport {
    private struct State {
        var answers: [Int?]
        var requests: [HTTPRequest] = []
        var waits: [Duration] = []
    }

    private let state: Mutex<State>

    /// Answers these statuses and then 200; nil is no answer.
    init(_ answers: Int?...) { state = Mutex(State(answers: answers)) }

    var requests: [HTTPRequest] { state.withLock(\.requests) }

    /// How long the emulator waited before each attempt that was not the first.
    var waits: [Duration] { state.withLock(\.waits) }

    var timekeeper: Timekeeper {
        Timekeeper(
            elapsed: { .zero }, sleep: { wait in self.state.withLock { $0.waits.append(wait) } })
    }

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        let status = state.withLock { state in
            state.requests.append(request)
            return state.answers.isEmpty ? 200 : state.answers.removeFirst()
        }
        guard let status else {
            throw TransportError(.timeout, "no answer in time", requestMayHaveLeft: true)
        }
        return HTTPResponse(status: status)
    }
}
