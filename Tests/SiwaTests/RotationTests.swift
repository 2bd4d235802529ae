import SignInWithApple
import TestSupport
import Testing

/// The line in cron.
@Suite struct RotationTests {
    @Test func `a secret that lasts is left alone, one that does not is replaced`() async throws {
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
}
