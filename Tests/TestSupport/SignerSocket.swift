import Foundation
package import SIWACrypto

/// A service that signs behind a Unix socket (docs/signers.md), as a test wants it to.
package final class SignerSocket: Sendable {
    private let service: UnixService
    private let state: Locked<State>

    private struct State {
        var mood = Mood.signs
        var calls = 0
        var open = 0
    }

    /// What it does when it is asked.
    package enum Mood: Hashable, Sendable {
        case signs
        /// Answers this text.
        case answers(String)
        /// Answers nothing until its mood changes, and then nothing, either.
        case isSilent
        /// Signs after its mood has changed.
        case isSlow
        /// Closes the connection in place of an answer.
        case dies
    }

    /// - Parameters:
    ///   - path: the path of its socket.
    ///   - key: signs.
    package init(at path: String, _ key: P256PrivateKey) throws {
        let state = Locked(State())
        self.state = state
        service = try UnixService(at: path) { connection in
            let question = try connection.read {
                String(decoding: $0, as: UTF8.self).hasSuffix("\n\n")
            }
            let mood = state.withLock { state in
                state.calls += 1
                state.open += 1
                return state.mood
            }
            defer { state.withLock { $0.open -= 1 } }
            guard let answer = try Self.answer(question, key, mood, state) else { return }
            try connection.write(Array(answer.utf8))
        }
    }

    /// The path of its socket.
    package var path: String { service.path }

    /// How often it was asked.
    package var calls: Int { state.withLock(\.calls) }

    /// How many questions wait for an answer.
    package var open: Int { state.withLock(\.open) }

    /// What it does from now on.
    package var mood: Mood {
        get { state.withLock(\.mood) }
        set { state.withLock { $0.mood = newValue } }
    }

    /// Ends the service: nobody listens any more.
    package func stop() {
        mood = .dies
        service.stop()
    }

    private static func answer(
        _ question: [UInt8], _ key: P256PrivateKey, _ mood: Mood, _ state: Locked<State>
    ) throws -> String? {
        switch mood {
        case .signs: return try signature(question, key)
        case .answers(let text): return text
        case .dies: return nil
        case .isSilent, .isSlow:
            while state.withLock({ $0.mood == mood }) { usleep(10_000) }
            return mood == .isSlow ? try signature(question, key) : nil
        }
    }

    private static func signature(_ question: [UInt8], _ key: P256PrivateKey) throws -> String? {
        let line = String(decoding: question, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("message=") }
        guard let message = line.flatMap({ Data(base64Encoded: String($0.dropFirst(8))) }) else {
            return nil
        }
        let signature = try key.signature(for: Array(message).span).rawRepresentation
        return "signature=\(Data(signature).base64EncodedString())\n\n"
    }
}
