package import SIWACrypto
internal import SIWAJOSE
package import SIWALifecycle
internal import SIWASystem

/// A signer that is a program: one process for each signature (docs/signers.md).
package struct ExecSigner: ClientSecretSigner {
    private let path: String
    private let arguments: [String]
    private let environment: [String]
    private let limit: Duration
    private let isStrict: Bool

    /// - Parameters:
    ///   - path: absolute.
    ///   - environment: its whole environment: `NAME=VALUE`.
    ///   - limit: the time for a signature.
    ///   - isStrict: whether programs and folders of other users are refused.
    package init(
        _ path: String, arguments: [String], environment: [String], limit: Duration,
        isStrict: Bool
    ) {
        (self.path, self.arguments, self.environment) = (path, arguments, environment)
        (self.limit, self.isStrict) = (limit, isStrict)
    }

    package func check() throws(SignerFailure) {
        guard let fault = TrustedPath(path, isStrict: isStrict).programFault else { return }
        throw SignerFailure(.unusable, "the signer \(path) \(fault)")
    }

    package func signature(for message: SecretBytes) async throws(SignerFailure) -> [UInt8] {
        // Before every run, because it may have been replaced since the last one.
        try check()
        let program = SessionProgram(
            path, arguments: arguments, environment: environment,
            input: SignerQuestion(message).bytes, limit: limit, isWhole: Self.isWhole)
        let answer = await onThread { finish in
            do throws(FileError) {
                try start(program, finish)
            } catch {
                finish(.failure(error))
            }
        }
        switch answer {
        case .success(let answer): return try read(answer)
        case .failure(let error):
            throw error.isTemporary
                ? SignerFailure(.unavailable, "the signer cannot be started: \(error.reason)")
                : SignerFailure(.unusable, "the signer \(path) cannot be run: \(error.reason)")
        }
    }

    /// A whole answer without a signature: the exit code says why, and is awaited.
    @Sendable private static func isWhole(_ output: [UInt8]) -> Bool {
        SignerAnswer(output)?.signature != nil
    }

    private func read(_ answer: SessionAnswer) throws(SignerFailure) -> [UInt8] {
        let words = SignerWords(answer.errors).text
        func failure(_ kind: SignerFailure.Kind, _ reason: String) -> SignerFailure {
            SignerFailure(kind, "the signer \(path) \(reason)", words: words)
        }
        switch answer.ending {
        case .answered: return SignerAnswer(answer.output)?.signature ?? []
        case .exit(0):
            if let whole = SignerAnswer(answer.output) { return whole.signature ?? [] }
            guard SignerAnswer(cutOff: answer.output).signature == nil else {
                throw failure(.invalidSignature, "did not end its answer with an empty line")
            }
            throw failure(.unavailable, "ended without an answer")
        case .exit(75): throw failure(.unavailable, "asks to try later (exit code 75)")
        case .exit(77): throw failure(.denied, "is not permitted to sign (exit code 77)")
        case .exit(let code): throw failure(.refused, "ended with exit code \(code)")
        case .signal(let number): throw failure(.unavailable, "was ended by signal \(number)")
        case .overdue: throw failure(.unavailable, "did not answer within \(limit.seconds)")
        case .interrupted: throw failure(.unavailable, "was stopped before it answered")
        case .tooMuch: throw failure(.refused, "answered with more than 64 KiB")
        }
    }
}

/// What a program said on standard error, safe to show.
package struct SignerWords: Sendable {
    /// On one line; nil if it said nothing.
    package let text: String?

    package init(_ bytes: [UInt8]) {
        var shown = ""
        var run: [UInt8] = []
        func flush() {
            shown += run.count < 40 ? String(decoding: run, as: UTF8.self) : "(masked)"
            run = []
        }
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            if let digit = Self.base64(scalar) {
                run.append(digit)
                continue
            }
            flush()
            shown.unicodeScalars.append(scalar.controlsTerminals ? " " : scalar)
        }
        flush()
        let words = shown.split(separator: " ").joined(separator: " ")
        text = words.isEmpty ? nil : words
    }

    private static func base64(_ scalar: Unicode.Scalar) -> UInt8? {
        guard scalar.isASCII else { return nil }
        let byte = UInt8(scalar.value)
        return switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            byte
        default: Array("+/=-_".utf8).contains(byte) ? byte : nil
        }
    }
}

/// Waits for what a thread finishes.
func onThread<Value: Sendable>(
    _ begin: (@escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
    await withCheckedContinuation { continuation in
        begin { continuation.resume(returning: $0) }
    }
}

extension Duration {
    /// In whole seconds, or in milliseconds if it is shorter.
    var seconds: String {
        self < .seconds(1)
            ? "\(components.attoseconds / 1_000_000_000_000_000) ms" : "\(components.seconds) s"
    }
}
