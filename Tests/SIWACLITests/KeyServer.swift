import SIWACLI
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import Synchronization

@testable import SIWAApplication

/// The endpoint of Apple's keys; a test sets the published keys.
final class KeyServer: Transport {
    enum Answer: Sendable {
        case keys([JSON])
        case page(status: Int, String)
        case nothing(left: Bool)
    }

    private struct State {
        var answer: Answer
        var requests = 0
    }

    private let state: Mutex<State>

    init(_ kids: String...) { state = Mutex(State(answer: .keys(kids.map { Self.key($0) }))) }

    /// How many requests came.
    var requests: Int { state.withLock { $0.requests } }

    /// What is answered from now on.
    func answer(_ answer: Answer) { state.withLock { $0.answer = answer } }

    /// Publishes the keys of these names.
    func publish(_ kids: String...) { answer(.keys(kids.map { Self.key($0) })) }

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        let answer = state.withLock { state in
            state.requests += 1
            return state.answer
        }
        switch answer {
        case .keys(let keys):
            let document: JSON = ["keys": .array(keys.shuffled())]
            return HTTPResponse(status: 200, body: document.bytes)
        case .page(let status, let body):
            return HTTPResponse(status: status, body: Array(body.utf8))
        case .nothing(let left):
            throw TransportError(.connect, "as the test has it", requestMayHaveLeft: left)
        }
    }

    /// An odd number of 2048 bits, made from the name, without a private half.
    static func key(_ kid: String) -> JSON {
        let middle = Array((0..<254).map { UInt8(truncatingIfNeeded: $0) ^ (kid.utf8.first ?? 0) })
        return [
            "kty": "RSA", "kid": .string(kid), "use": "sig", "alg": "RS256",
            "n": .string(Base64URL.encode([0x80] + middle + [0x01])), "e": "AQAB",
        ]
    }
}
