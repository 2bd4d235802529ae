import SIWACrypto
import SIWATestSupport
import Testing

/// The real `siwa` with a key of its own and secrets that can be recognised wherever they
/// turn up.
struct Siwa: Sendable {
    static let code = "cRECOGNISABLE.authorization.code.0123456789"
    static let token = "rRECOGNISABLE.refresh.token.0123456789"
    static let nonce = "RECOGNISABLE-nonce-0123456789"
    static let verifier = "RECOGNISABLE-verifier-0123456789-0123456789-0123456789"

    let executable: Executable
    private let folder: TemporaryFolder
    private let keyText: String

    init() throws {
        executable = try .product("siwa")
        folder = try TemporaryFolder()
        let key = try P256PrivateKey.generate().pemRepresentation().revealed()
        keyText = String(decoding: key, as: UTF8.self)
        try folder.write("AuthKey_K1L2M3N4P5.p8", key)
    }

    /// Where the key is.
    var keyPath: String { folder.path("AuthKey_K1L2M3N4P5.p8") }

    /// All that identifies the client, and nothing else.
    var environment: [String: String] {
        [
            "SIWA_TEAM_ID": "A1B2C3D4E5", "SIWA_CLIENT_ID": "com.example.app",
            "SIWA_PRIVATE_KEY_FILE": keyPath, "REFRESH_TOKEN": Self.token,
            "XDG_CACHE_HOME": folder.path("cache"),
        ]
    }

    /// Exchanges the code at `url`; the code comes on standard input.
    func exchange(_ url: String, _ more: String..., timeout: String = "60s") -> Executable.Call {
        call(["exchange", "--code", "-"], url, timeout, more, input: .text(Self.code + "\n"))
    }

    /// Refreshes the token at `url`; the token is in a variable.
    func refresh(_ url: String, _ more: String..., timeout: String = "60s") -> Executable.Call {
        call(["refresh", "--token", "@env:REFRESH_TOKEN"], url, timeout, more, input: .bytes([]))
    }

    /// Runs to the end, and looks for what no run may do.
    func run(
        _ call: Executable.Call, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ProgramResult {
        let result = try await executable.run(call)
        expectDecent(result, sourceLocation)
        return result
    }

    private func call(
        _ command: [String], _ url: String, _ timeout: String, _ more: [String], input: ChildInput
    ) -> Executable.Call {
        Executable.Call(
            command + ["--base-url", url, "--timeout", timeout] + more, environment: environment,
            input: input, limit: .seconds(180))
    }
}

extension Siwa {
    /// After every answer: no crash, no defect, no secret, no control character for a terminal.
    func expectDecent(_ result: ProgramResult, _ sourceLocation: SourceLocation) {
        #expect(result.exitCode != nil, "\(result)", sourceLocation: sourceLocation)
        #expect(result.exitCode != 70, "\(result)", sourceLocation: sourceLocation)
        for secret in secrets {
            let isHidden = !result.output.contains(secret) && !result.errors.contains(secret)
            #expect(isHidden, "\(secret) in \(result)", sourceLocation: sourceLocation)
        }
        for text in [result.output, result.errors] {
            let isTame = text.unicodeScalars.allSatisfy(Self.isTame)
            #expect(isTame, "\(text.debugDescription)", sourceLocation: sourceLocation)
        }
    }

    /// What was put in and must not come out. An access token may: it is the result.
    private var secrets: [String] {
        [Self.code, Self.token, Self.nonce, Self.verifier]
            + keyText.split(separator: "\n").filter { !$0.hasPrefix("-") }.map(String.init)
    }

    private static func isTame(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\n"
            || scalar.properties.generalCategory != .control
                && scalar.properties.generalCategory != .format
    }
}
