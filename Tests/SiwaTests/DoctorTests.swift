import Glibc
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// `siwa doctor` over TLS, with real files.
@Suite struct DoctorTests {
    @Test func `every check passes, including the emulator's certificate`() async throws {
        let apple = try await LocalApple()
        let result = try await apple.siwa("doctor", "--online", "--json")
        #expect(result.exitCode == 0 && result.errors.isEmpty, "\(result)")
        let statuses = try Self.statuses(result)
        for name in ["key_permissions", "self_test", "dns", "tls", "clock", "key_set", "probe"] {
            #expect(statuses[name] == "ok", "\(name): \(result)")
        }
    }

    @Test func `of two keys in a folder, the one that Apple accepts is named`() async throws {
        let apple = try await LocalApple()
        let wrong = try P256PrivateKey.generate().pemRepresentation().revealed()
        let path = try apple.folder.write("apple/AuthKey_STRANGER00.p8", wrong)
        let result = try await apple.siwa(
            "doctor", "--online", "--json", "--key", path, "--key-id", "STRANGER00")
        #expect(result.exitCode == 1, "\(result)")
        let cause = try result.json["cause"]
        #expect(cause?["code"] == "other_accepted" && cause?["confidence"] == "certain")
        #expect(cause?["seen"]?.string?.contains("/apple/AuthKey_") == true, "\(result)")
        #expect(cause?["seen"]?.string?.contains("STRANGER00") == false, "\(result)")
    }

    @Test func `an untrusted certificate is reported as the failed stage`() async throws {
        let apple = try await LocalApple()
        let authority = try CertificateAuthority(
            name: "Untrusted", permitting: [.host("localhost")],
            validity: 1_700_000_000..<4_000_000_000
        ).certificate.pemRepresentation()
        let path = try apple.folder.write("other-ca.pem", authority)
        let result = try await apple.siwa("doctor", "--online", "--json", "--ca-file", path)
        let statuses = try Self.statuses(result)
        #expect(result.exitCode == 1 && statuses["connection"] == "ok", "\(result)")
        #expect(statuses["tls"] == "failed" && statuses["probe"] == "skipped", "\(result)")
    }

    @Test func `a private key that is given as the secret is not sent`() async throws {
        let apple = try await LocalApple()
        let key = try P256PrivateKey.generate().pemRepresentation().revealed()
        let result = try await apple.siwa(
            "doctor", "--online", "--json", "--secret", "-",
            input: String(decoding: key, as: UTF8.self))
        #expect(result.exitCode == 1, "\(result)")
        #expect(try result.json["cause"]?["code"] == "private_key_pasted")
        #expect(try await apple.requests().isEmpty)
        let body = String(decoding: key, as: UTF8.self).split(separator: "\n")[1]
        #expect(!(result.output + result.errors).contains(body))
    }

    /// The units name the key with a link, whose target tells the Key ID.
    @Test func `a link to the file of another Key ID is a failed check`() async throws {
        let apple = try await LocalApple()
        let key = try P256PrivateKey.generate().pemRepresentation().revealed()
        try apple.folder.write("unit/AuthKey_STRANGER00.p8", key)
        let link = apple.folder.path("unit/apple.p8")
        #expect(symlink("AuthKey_STRANGER00.p8", link) == 0)
        let result = try await apple.siwa(
            "doctor", "--json", environment: ["SIWA_PRIVATE_KEY_FILE": link])
        #expect(result.exitCode == 1, "\(result)")
        let checks = try #require(try result.json["checks"]?.elements)
        let seen = checks.filter { $0["name"] == "key_files" && $0["status"] == "failed" }
            .compactMap { $0["seen"]?.string }.joined()
        #expect(seen.contains("\(link) (AuthKey_STRANGER00.p8, environment SIWA_PRIVATE_KEY_FILE)"))
        #expect(seen.contains("/apple/AuthKey_"), "\(result)")
    }

    /// Each check's status; one that failed outweighs one of the same name that did not.
    private static func statuses(_ result: ProgramResult) throws -> [String: String] {
        let checks = try #require(try result.json["checks"]?.elements)
        return Dictionary(
            checks.map { ($0["name"]?.string ?? "", $0["status"]?.string ?? "") },
            uniquingKeysWith: { $0 == "failed" ? $0 : $1 })
    }
}
