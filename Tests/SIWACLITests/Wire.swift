import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Synchronization

/// The network of a harness: an emulated Apple behind a connection that can be cut. It records
/// every secret that was sent or received, so that tests can check that no secret is shown.
final class Wire: Transport {
    private struct State {
        var failures: [TransportError] = []
        var sent = 0
        var secrets: Set<String> = []
    }

    private let apple: EmulatorTransport
    private let state = Mutex(State())

    init(_ emulator: AppleEmulator, timekeeper: Timekeeper) {
        apple = EmulatorTransport(emulator, timekeeper: timekeeper)
    }

    /// The number of requests sent.
    var sent: Int { state.withLock { $0.sent } }

    /// Every code, token and client_secret that was sent or received.
    var secrets: Set<String> { state.withLock { $0.secrets } }

    /// Makes the next request fail.
    func fail(_ error: TransportError) { state.withLock { $0.failures.append(error) } }

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        let failure = state.withLock { state -> TransportError? in
            state.secrets.formUnion(Self.secrets(inForm: request.body.revealed()))
            let failure = state.failures.isEmpty ? nil : state.failures.removeFirst()
            if failure?.requestMayHaveLeft ?? true { state.sent += 1 }
            return failure
        }
        if let failure { throw failure }
        let response = try await apple.send(request, timeout: timeout)
        state.withLock { $0.secrets.formUnion(Self.secrets(inAnswer: response.body)) }
        return response
    }

    private static func secrets(inForm body: [UInt8]) -> [String] {
        let names = ["client_secret", "code", "code_verifier", "refresh_token", "token"]
        return String(decoding: body, as: UTF8.self).split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            return parts.count == 2 && names.contains(parts[0]) ? parts[1] : nil
        }
    }

    private static func secrets(inAnswer body: [UInt8]) -> [String] {
        let answer = try? JSON(body)
        return ["access_token", "refresh_token", "id_token"].compactMap { answer?[$0]?.string }
    }
}
