import SIWAJOSE
import SIWAServerRecords
import SIWAVaultRecords
import Testing

@testable import SIWAApplication
@testable import SIWACLI

/// `siwa-admin status` compares what is in `/etc/siwa` with what a running server uses.
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

    /// What is found in the facts of a server.
    private func compared(_ facts: ServerFacts, on host: String = "here") -> ServerFacts? {
        var survey = ServerSurvey()
        survey.servers = [
            ServerRecord(
                ServerInstance(id: "1", host: host, version: "1"), startedAt: NumericDate(0),
                heartbeatAt: NumericDate(0),
                silence: .zero, facts: facts)
        ]
        StatusCommand().compareFiles(&survey, in: world)
        return survey.servers[0].facts
    }

    /// The fault that is found in a server's key.
    private func fault(on host: String = "here", using fingerprint: String?) -> String? {
        var facts = ServerFacts()
        var profile = ServerFacts.Profile(
            name: "app", clientID: "com.example.app", teamID: "A1B2C3D4E5", keyID: "K1L2M3N4P5",
            secretExpiresAt: nil, fault: nil, isRefused: false)
        profile.keyFingerprint = fingerprint
        facts.profiles = [profile]
        let found = compared(facts, on: host)?.profiles[0]
        #expect(found?.hasCopiedKey == (found?.keyFault != nil))
        return found?.keyFault
    }

    @Test func `a configuration that the server has not read is found on its own machine`() throws {
        var facts = ServerFacts()
        facts.configuration = "/etc/siwa/config.json"
        facts.configurationFingerprint = try Settings(ProfileSelection(), in: world).file?
            .fingerprint
        #expect(compared(facts)?.hasOldConfiguration == false)
        harness.memory.with { $0.files["/siwa/config.json"]?.contents.append(0x0A) }
        #expect(compared(facts)?.hasOldConfiguration == true)
        #expect(compared(facts, on: "far")?.hasOldConfiguration == false)
        facts.configuration = "/other/config.json"
        #expect(compared(facts)?.hasOldConfiguration == false)
        (facts.configuration, facts.configurationFingerprint) = ("/etc/siwa/config.json", nil)
        #expect(compared(facts)?.hasOldConfiguration == false)
    }

    @Test func `a machine whose own server does not run has a problem, whoever else runs`() throws {
        func missing(_ host: String?) throws -> String? {
            var survey = ServerSurvey()
            survey.servers =
                host.map {
                    [
                        ServerRecord(
                            ServerInstance(id: "1", host: $0, version: "1"),
                            startedAt: NumericDate(0),
                            heartbeatAt: NumericDate(0), silence: .zero, facts: ServerFacts())
                    ]
                } ?? []
            let settings = try Settings(ProfileSelection(), in: world)
            StatusCommand().lookForOwnServer(&survey, settings, in: world)
            return ServerStatus(survey, at: NumericDate(0)).issues.map(\.fault)
                .first { $0.mentions("of this machine") }
        }
        // Without the object `server`, this machine has only jobs.
        #expect(try missing("far") == nil)
        harness.memory.with { state in
            let text = String(
                decoding: state.files["/siwa/config.json"]?.contents ?? [], as: UTF8.self)
            let members = (try? JSON(text: text))?.members ?? []
            state.files["/siwa/config.json"]?.contents = Array(
                JSON.object(members + [.init("server", [:])]).text.utf8)
        }
        #expect(try missing("far") == "No siwa-server of this machine (here) is running.")
        #expect(try missing("here") == nil)
        // No server has ever run with the vault: after a restore, the wrong one may be in its place.
        #expect(try missing(nil) == nil)
        harness.memory.with {
            $0.files["/etc/systemd/system/multi-user.target.wants/siwa-server.service"] =
                .init(contents: [])
        }
        #expect(try missing(nil) == "No siwa-server of this machine (here) is running.")
    }

    @Test func `a key and the link to it are one file`() async throws {
        let keys = harness.memory.with { state in
            let key = state.files["/siwa/AuthKey_K1L2M3N4P5.p8"]
            state.files["/siwa/apple.p8"] = key
            state.files["/siwa/AuthKey_STRANGER00.p8"] = key
            state.files["/siwa/AuthKey_ALIAS00000.p8"] = key
            return "/etc/siwa/apple.p8 is in use; other keys: /etc/siwa/AuthKey_ALIAS00000.p8"
        }
        var world = world
        world.files.resolvedPath = { path in
            switch path {
            case "/siwa/apple.p8": "/siwa/AuthKey_K1L2M3N4P5.p8"
            case "/siwa/AuthKey_STRANGER00.p8": "/siwa/AuthKey_ALIAS00000.p8"
            default: path
            }
        }
        #expect(await runSIWA(["doctor", "--key", "/siwa/apple.p8"], in: world) == 0)
        let shown = harness.memory.with { String(decoding: $0.output, as: UTF8.self) }
        let line = shown.split(separator: "\n").first { $0.contains("key_files") }
        #expect(line?.hasSuffix(keys) == true, "\(shown)")
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
