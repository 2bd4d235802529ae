import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The daily `siwa secret --out` of a cron job.
@Suite struct RotationTests {
    @Test func `a secret is replaced only when it expires soon`() async throws {
        let apple = try await LocalApple()
        let path = apple.folder.path("apple.secret")
        let rotate = ["secret", "--lifetime", "90d", "--out", path, "--renew-within", "30d"]
        let first = try await apple.siwa(rotate)
        #expect(first.exitCode == 0 && first.output.isEmpty, "\(first)")
        #expect(first.errors.contains("valid for 90 days"), "\(first)")
        let minted = try apple.folder.contents("apple.secret")
        #expect(try await apple.siwa(rotate).exitCode == 0)
        #expect(try apple.folder.contents("apple.secret") == minted)

        let short = ["secret", "--lifetime", "100d", "--out", path, "--renew-within", "95d"]
        #expect(try await apple.siwa(short).exitCode == 0)
        #expect(try apple.folder.contents("apple.secret") != minted)
    }

    @Test func `a credential of the service manager is accepted for every spelling of its path`()
        async throws
    {
        let apple = try await LocalApple()
        let folder = apple.folder.path("apple")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let key = try #require(names.first { $0.hasPrefix("AuthKey_") })
        #expect(chmod("\(folder)/\(key)", 0o444) == 0)
        for path in ["\(folder)/\(key)", "\(folder)/../apple/./\(key)"] {
            let call = ["secret", "--strict", "--key", path]
            let refused = try await apple.siwa(call)
            #expect(refused.exitCode == 3, "\(refused)")
            let result = try await apple.siwa(
                call, environment: ["CREDENTIALS_DIRECTORY": folder + "/"])
            #expect(result.exitCode == 0, "\(path): \(result)")
        }
    }

    @Test func `after a kill at any moment, the secret is either the old or the whole new one`()
        async throws
    {
        let apple = try await LocalApple()
        let path = apple.folder.path("apple.secret")
        let call = ["secret", "--lifetime", "90d", "--out", path, "-q"]
        #expect(try await apple.siwa(call).exitCode == 0)
        for _ in 0..<24 {
            let siwa = try apple.start(call)
            try await Task.sleep(for: .microseconds(.random(in: 0..<40_000)))
            siwa.signal(9)
            _ = try await siwa.result()
            let secret = try await apple.siwa("inspect", "@\(path)")
            #expect(try secret.json["kind"] == "client_secret", "\(secret)")
            #expect(try secret.json["findings"] == [], "\(secret)")
        }
        // What a killed run left is removed a minute later.
        let left = try apple.folder.write("apple.secret.siwa-aBcD12", "half")
        let young = try apple.folder.write("apple.secret.siwa-aBcD13", "half")
        try FileManager.default.setAttributes(
            [.modificationDate: Date() - 120], ofItemAtPath: left)
        #expect(try await apple.siwa(call).exitCode == 0)
        #expect(!FileManager.default.fileExists(atPath: left))
        #expect(FileManager.default.fileExists(atPath: young))
    }
}
