import SIWAJOSE
import SIWAServerRecords
import SIWAVaultRecords
import Testing

@testable import SIWAApplication
@testable import SIWACLI

/// `siwa-admin status` compares the key in `/etc/siwa` with the one that a running server uses.
@Suite struct KeysInUseTests {
    private let harness: CommandHarness
    private let world: World

    init() async throws {
        harness = try await CommandHarness()
        harness.memory.with {
            $0.files["/etc/siwa"] = .init(contents: [])
            $0.variables["CREDENTIALS_DIRECTORY"] = "/siwa"
        }
        var world = harness.world
        world.words = ServiceWords(world)
        world.actor = VaultActor(command: "", host: "here")
        self.world = world
    }

    /// The fault that is found in a server's key.
    private func fault(on host: String = "here", using fingerprint: String?) -> String? {
        var facts = ServerFacts()
        var profile = ServerFacts.Profile(
            name: "app", clientID: "com.example.app", teamID: "A1B2C3D4E5", keyID: "K1L2M3N4P5",
            secretExpiresAt: nil, fault: nil, isRefused: false)
        profile.keyFingerprint = fingerprint
        facts.profiles = [profile]
        var survey = ServerSurvey()
        survey.servers = [
            ServerRecord(
                ServerInstance(id: "1", host: host, version: "1"), startedAt: NumericDate(0),
                heartbeatAt: NumericDate(0), facts: facts)
        ]
        StatusCommand().compareKeys(&survey, in: world)
        let found = survey.servers[0].facts?.profiles[0]
        #expect(found?.hasCopiedKey == (found?.keyFault != nil))
        return found?.keyFault
    }

    @Test func `a replaced or removed key is found on the server's own machine`() throws {
        #expect(world.words.isService)
        let used = try Settings(ProfileSelection(name: "app"), in: world).loadKey(in: world)
            .publicKey.fingerprint
        #expect(fault(using: used) == nil)
        #expect(
            fault(using: "other").map(world.words.shown)
                == "/etc/siwa/AuthKey_K1L2M3N4P5.p8 has another key than the one in use")
        #expect(fault(on: "far", using: "other") == nil)
        #expect(fault(using: nil) == nil)
        harness.memory.with { _ = $0.files.removeValue(forKey: "/siwa/AuthKey_K1L2M3N4P5.p8") }
        #expect(fault(using: used)?.hasPrefix("the private key cannot be used any more: ") == true)
    }
}
