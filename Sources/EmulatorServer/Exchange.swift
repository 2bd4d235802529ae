internal import AppleEmulator
internal import CMicroHTTPD
internal import Synchronization

/// One request and its answer, for as long as libmicrohttpd works on it.
///
/// Who frees this: `begun` retains it and hands it to libmicrohttpd as the request's own
/// pointer; `ended`, called exactly once a request and whatever became of it, releases it.
/// A server that has stopped asserts that none is left.
final class Exchange: Sendable {
    /// How far it is. All steps but the last are taken by libmicrohttpd's only thread.
    private enum Stage {
        case announced
        case receiving([UInt8])
        case answering
        case answered(EmulatorReply)
    }

    /// What to do next.
    enum Step {
        case wait
        case answer(body: [UInt8])
        case send(EmulatorReply)
        case abort
    }

    /// Path and query, as in the request line.
    let target: String
    private let stage = Mutex(Stage.announced)
    private let start = ContinuousClock.now
    private let context: RequestContext

    /// A body must be here by then: the idle timeout alone would let a client send a byte
    /// every few seconds for ever.
    private static let patience = Duration.seconds(30)

    init(target: String, in context: RequestContext) {
        self.target = target
        self.context = context
        context.exchanges.add(1, ordering: .relaxed)
    }

    deinit { context.exchanges.subtract(1, ordering: .relaxed) }

    /// Takes what came. The first call only announces a body, an empty one later ends it.
    func step(receiving bytes: UnsafeRawBufferPointer) -> Step {
        stage.withLock { stage in
            switch stage {
            case .announced:
                stage = .receiving([])
                return .wait
            case .receiving(let body) where bytes.isEmpty:
                stage = .answering
                return .answer(body: body)
            case .receiving(var body):
                stage = .announced
                // What is over the limit is read, so that the client listens to the answer,
                // and thrown away.
                let room = EmulatorRequest.bodyLimit + 1 - body.count
                body.append(contentsOf: bytes.prefix(room))
                stage = .receiving(body)
                return start.duration(to: .now) > Self.patience ? .abort : .wait
            case .answering: return .abort
            case .answered(let reply): return .send(reply)
            }
        }
    }

    /// Keeps the answer until libmicrohttpd asks for it.
    func answer(_ reply: EmulatorReply) {
        stage.withLock { $0 = .answered(reply) }
    }
}
