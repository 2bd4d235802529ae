package import SIWACrypto
package import SIWALifecycle
internal import SIWASystem

/// A signer behind a Unix socket: one connection for each signature (docs/signers.md).
package struct SocketSigner: ClientSecretSigner {
    private let path: String
    private let limit: Duration
    private let isStrict: Bool

    /// - Parameters:
    ///   - path: the path of the socket.
    ///   - limit: the time for a signature.
    ///   - isStrict: whether a socket of another user is refused.
    package init(_ path: String, limit: Duration, isStrict: Bool) {
        (self.path, self.limit, self.isStrict) = (path, limit, isStrict)
    }

    package func check() throws(SignerFailure) {
        guard let fault = TrustedPath(path, isStrict: isStrict).socketFault else { return }
        throw SignerFailure(.unusable, "the signer's socket \(path) \(fault)")
    }

    package func signature(for message: SecretBytes) async throws(SignerFailure) -> [UInt8] {
        try check()
        let question = SignerQuestion(message).bytes
        let answer = try await converse(path, limit, "the signer's socket") {
            stream throws(FileError) -> [UInt8]? in
            do throws(FileError) {
                try stream.write(question)
            } catch {
                // It may have answered without reading.
                guard error.isClosedPipe else { throw error }
            }
            var answer: [UInt8] = []
            while !SignerAnswer.isWhole(answer) {
                let chunk = try stream.read()
                guard !chunk.isEmpty else { break }
                answer += chunk
                guard answer.count <= SessionProgram.mostOutput else { return nil }
            }
            return answer
        }
        return try read(answer)
    }

    private func read(_ bytes: [UInt8]?) throws(SignerFailure) -> [UInt8] {
        func failure(_ kind: SignerFailure.Kind, _ reason: String) -> SignerFailure {
            SignerFailure(kind, "the signer behind \(path) \(reason)")
        }
        guard let bytes else { throw failure(.refused, "answered with more than 64 KiB") }
        guard let answer = SignerAnswer(bytes) else {
            guard SignerAnswer(cutOff: bytes).signature == nil else {
                throw failure(.invalidSignature, "did not end its answer with an empty line")
            }
            throw failure(.unavailable, "ended without an answer")
        }
        switch answer.error {
        case nil: return answer.signature ?? []
        case "later": throw failure(.unavailable, "asks to try later")
        case "denied": throw failure(.denied, "is not permitted to sign")
        default: throw failure(.refused, "failed")
        }
    }
}

/// Holds a conversation over a Unix socket on a thread of its own.
///
/// - Parameter name: the name of the socket in messages.
func converse<Value: Sendable>(
    _ path: String, _ limit: Duration, _ name: String,
    _ body: @escaping @Sendable (UnixStream) throws(FileError) -> Value
) async throws(SignerFailure) -> Value {
    let result: Result<Value, FileError> = await onThread { finish in
        do throws(FileError) {
            try runOnThread {
                do throws(FileError) {
                    finish(.success(try body(try UnixStream(path, within: limit))))
                } catch {
                    finish(.failure(error))
                }
            }
        } catch {
            finish(.failure(error))
        }
    }
    do throws(FileError) {
        return try result.get()
    } catch {
        if error.isDenied {
            throw SignerFailure(.unusable, "\(name) \(path) cannot be used: \(error.reason)")
        }
        throw SignerFailure(
            .unavailable,
            error.isLate
                ? "\(name) \(path) did not answer within \(limit.seconds)"
                : "\(name) \(path) cannot be reached: \(error.reason)")
    }
}
