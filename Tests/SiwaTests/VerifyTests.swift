import Foundation
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// `siwa verify` and `siwa notification` as processes.
@Suite struct VerifyTests {
    @Test func `tokens of an exchange are verified with the served keys`() async throws {
        let apple = try await LocalApple()
        let code = try await apple.code(for: "com.example.app", [.init("nonce", "n-1")])
        let tokens = try await apple.siwa("exchange", "--code", code).json
        let token = try #require(tokens["id_token"]?.string)
        let access = try #require(tokens["access_token"]?.string)
        let good = try await apple.siwa(
            "verify", "-", "--nonce", "n-1", "--access-token", access, input: token + "\n")
        #expect(good.exitCode == 0 && good.errors.isEmpty, "\(good)")
        #expect(try good.json["valid"] == true)
        #expect(try good.json["claims"]?["sub"] == tokens["user_id"])

        let other = try await apple.siwa("verify", token, "--nonce", "n-2", "--print", "valid")
        #expect(other.exitCode == 1 && other.output == "false\n", "\(other)")
        #expect(other.errors.contains("nonce: the token has another one"), "\(other)")
        #expect(try await apple.stop().exitCode == 0)
    }

    private static func vector(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../SignInWithAppleTests/Vectors/\(name)").path()
    }

    private static let token = [
        "verify", "@" + vector("identity-token-2019-06.jwt"), "--jwks",
        vector("jwks-2019-2022.json"), "--audience", "jp.yauth.signin.service2", "--at",
        "2019-06-05T04:40:00Z", "--print", "valid",
    ]
    private static let notification = [
        "notification", "@" + vector("notification-2022-07.jwt"), "--jwks",
        vector("jwks-2019-2022.json"), "--audience", "jp.yauth.signin.app", "--at",
        "2022-07-12T12:00:00Z", "--print", "valid",
    ]

    @Test(arguments: [token, notification])
    func `tokens that Apple signed are verified without network and settings`(_ call: [String])
        async throws
    {
        let folder = try TemporaryFolder()
        try folder.write("libcurl.so.4", "no library")
        let result = try await Executable.product("siwa").run(
            Executable.Call(call, environment: ["LD_LIBRARY_PATH": folder.path]))
        #expect(result.exitCode == 0 && result.output == "true\n", "\(result)")
        #expect(result.errors.isEmpty, "\(result)")
    }

    @Test func `without OpenSSL, verification fails and the error names the library`() async throws
    {
        let folder = try TemporaryFolder()
        try folder.write("libcrypto.so.3", "no library")
        let result = try await Executable.product("siwa").run(
            Executable.Call(Self.token, environment: ["LD_LIBRARY_PATH": folder.path]))
        #expect(result.exitCode == 3 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("libcrypto.so.3"), "\(result)")
    }

    @Test(arguments: ["verify", "notification"], [70_000, 5_000_000])
    func `text longer than any token is not a token`(_ command: String, _ count: Int) async throws {
        let folder = try TemporaryFolder()
        let text = String(repeating: "eyJ.", count: count / 4)
        let path = try folder.write("token", text)
        for source in ["-", "@" + path] {
            let result = try await Executable.product("siwa").run(
                command, source, "--audience", "com.example.app", "--print", "valid",
                input: .bytes(source == "-" ? Array(text.utf8) : []))
            #expect(result.exitCode == 1 && result.output == "false\n", "\(result)")
            #expect(result.errors.contains("(format: "), "\(result)")
        }
    }
}
