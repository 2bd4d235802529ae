import Foundation
import SIWACommandTable
import SIWAJOSE
import SIWASystem
import SIWATestSupport
import Testing

@testable import SIWAApplication
@testable import SIWACLI
@testable import SIWACrypto
@testable import SIWALifecycle

/// Every error has words for people: no message shows the name of a type.
@Suite struct ErrorWordsTests {
    @Test func `the names of types and cases are recognised`() {
        #expect(typeNames(in: "expired(SIWAJOSE.NumericDate(seconds: 1))").count == 2)
        #expect(typeNames(in: "spaceOrControl(3), CancellationError(), Optional(1)").count == 3)
        #expect(
            typeNames(in: "Apple's keys (kid A.B) of 2027: see link(2), ES256 (RFC 7518)") == [])
    }

    /// Caught where they are thrown, and never shown.
    static let silent: Set = ["Refusal", "ReportedEnd"]

    @Test func `every error type describes itself`() throws {
        let sources = try Self.sources()
        let declaration =
            #/(?:struct|enum|class|extension)\s+([\w.]+)\s*:([^{}]*)\{/#
        var errors: Set<String> = []
        var described: Set<String> = []
        for text in sources {
            for match in text.matches(of: declaration) {
                let name = match.output.1.split(separator: ".").last.map(String.init) ?? ""
                let parents = match.output.2.split { !$0.isLetter && !$0.isNumber }
                if parents.contains("Error") || parents.contains("DiagnosableError") {
                    errors.insert(name)
                }
                if parents.contains("CustomStringConvertible")
                    || parents.contains("DiagnosableError")
                {
                    described.insert(name)
                }
            }
        }
        #expect(errors.count > 40, "\(errors)")
        let rest = errors.subtracting(described).subtracting(Self.silent)
        #expect(rest == [], "\(rest.sorted())")
    }

    private static func sources() throws -> [String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources").path()
        let names = FileManager.default.enumerator(atPath: root)?.allObjects as? [String]
        return try (names ?? []).filter { $0.hasSuffix(".swift") }.map {
            try String(contentsOfFile: "\(root)/\($0)", encoding: .utf8)
        }
    }

    static let errors: [any Error] = secrets + keySets + failures + others

    private static let secrets: [any Error] =
        [
            ClientSecretError.tooShort(.seconds(1)), .tooLong(.seconds(1)),
            .signer(SignerFailure(.key, "the private key cannot sign: why")),
            .expired(NumericDate(1_800_000_000)),
            .otherClient(ClientID(unchecked: "com.example.app")), .unusable([]),
            .signer(SignerFailure(.unavailable, "the signer is locked")),
        ] as [ClientSecretError]

    private static let keySets: [any Error] =
        [
            .offline, .paused(until: NumericDate(1_800_000_000)), .busy,
            .request(RequestError(failure: failures[0], context: nil)),
        ] as [KeySetError]

    private static let others: [any Error] =
        failures.map { $0.cause as any Error }
        + failures.map { RequestError(failure: $0) as any Error }
        + [
            StoreError(.full, "the disk is full"), FileError("read", "f", reason: "why"),
            SettingsError("the configuration is missing", hints: []), Interruption(signal: 15),
            Diagnosis(.failed, "no", hints: [], exitCode: .no), InitAnswerError(message: "no"),
            KeySetFileFault("no"), AbsentMember(name: "a", present: ["b"]),
            IdentifierError(text: "a", fault: "is too short"), InvalidLine(nil, "it is empty"),
            UsageError(problem: .missingCommand, subject: "siwa"),
            UsageError.Problem.unexpectedOperand(typed: nil), P256KeyError.curve("secp384r1"),
            P256KeyError.unreadable(OpenSSLError(reasons: ["why"])), P256KeyError.inconsistent,
            IgnoredKey.Reason.use, SignerFailure(.unavailable, "the signer is locked"),
        ] as [any Error]

    private static let failures: [TokenFailure] = [
        TokenFailure.Cause.unminted(.expired(NumericDate(1_800_000_000))),
        .unreachable(TransportError(.tls, "why", requestMayHaveLeft: false)),
        .unusable(HTTPResponse(status: 502, fields: [], body: [])),
    ].map { TokenFailure(cause: $0, request: .exchange, attempts: 1) }

    @Test func `an error in a message and in its diagnosis shows no type name`() {
        for error in Self.errors {
            let diagnosis = Diagnosis(error)
            let texts = ["\(error)", diagnosis.message] + diagnosis.hints
            for text in texts {
                #expect(typeNames(in: text) == [], "\(type(of: error)): \(text)")
                #expect(!text.isEmpty)
            }
        }
    }
}

extension RequestError {
    fileprivate init(failure: TokenFailure) { self.init(failure: failure, context: nil) }
}
