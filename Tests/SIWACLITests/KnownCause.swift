import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// One of the dozen known causes of a bare `invalid_client`, set up.
struct KnownCause: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What siwa must say first.
    let code: FindingCode
    /// Prepares the harness.
    var prepare: @Sendable (CommandHarness) async throws -> Void = { _ in }
    /// What another program would send.
    var foreign: Foreign?
    /// What `siwa exchange` is given besides the code; nil when siwa cannot make this mistake.
    var command: [String]?
    /// What its first hint must hold.
    var hint = ""
    /// What `siwa doctor` is given. `$SECRET` is the foreign secret.
    var doctor: [String]
    /// Found without a request.
    var isSeenOffline = true

    /// A secret spoiled in one way, and the client it is sent for.
    struct Foreign: Sendable {
        var clientID = "com.example.app"
        var spoil: @Sendable (inout SecretDraft) -> Void = { _ in }
        /// Sent in place of the form.
        var isJSON = false
    }

    init(_ name: String, _ code: FindingCode, foreign: Foreign, doctor: [String] = []) {
        (testDescription, self.code, self.foreign) = (name, code, foreign)
        self.doctor = ["--secret", "@/tmp/secret"] + doctor
    }

    init(_ name: String, _ code: FindingCode, command: [String], hint: String) {
        (testDescription, self.code, self.command, self.hint) = (name, code, command, hint)
        doctor = command
    }
}

extension KnownCause {
    static let all = foreign + own

    private static let now = Memory.start.seconds

    private static let foreign = [
        KnownCause("expired", .expired, foreign: Foreign { $0.claim("exp", .integer(now - 1)) }),
        KnownCause(
            "more than six months", .tooLong,
            foreign: Foreign { $0.claim("exp", .integer(now + 184 * 86_400)) }),
        KnownCause(
            "milliseconds", .milliseconds,
            foreign: Foreign { $0.claim("exp", .integer((now + 300) * 1000)) }),
        KnownCause(
            "DER", .derSignature,
            foreign: Foreign { $0.spoilSignature = { $0.derRepresentation } }),
        KnownCause(
            "wrong aud", .wrongAudience,
            foreign: Foreign { $0.claim("aud", "https://account.apple.com") }),
        KnownCause(
            "bundle id for Services ID", .wrongClient,
            foreign: Foreign(clientID: "com.example.web") { $0.claim("sub", "com.example.app") },
            doctor: ["--profile", "web"]),
        pasted,
        KnownCause("JSON instead of form", .requestForm, foreign: Foreign(isJSON: true)),
    ]

    /// The key of the fixtures does not exist yet when this table is made.
    private static let pasted: KnownCause = {
        var cause = KnownCause(
            ".p8 pasted as secret", .privateKeyPasted, foreign: Foreign())
        cause.doctor = ["--secret", "@/siwa/AuthKey_K1L2M3N4P5.p8"]
        return cause
    }()

    private static let own = [wrongKey, wrongKeyID, wrongTeam, servicesID, clock]

    private static let wrongKey: KnownCause = {
        var cause = KnownCause(
            "wrong p8 among several", .otherKeyFile,
            command: ["--key", "/siwa/AuthKey_STRANGER00.p8", "--key-id", "K1L2M3N4P5"],
            hint: "/siwa/AuthKey_K1L2M3N4P5.p8 is named for Key ID K1L2M3N4P5")
        cause.prepare = { harness in
            let key = try await Fixtures.shared.value.strangersKey
            harness.memory.with {
                $0.files["/siwa/AuthKey_STRANGER00.p8"] = .init(contents: Array(key.utf8))
            }
        }
        return cause
    }()

    private static let wrongKeyID = KnownCause(
        "wrong kid", .keyFileName, command: ["--key-id", "ZZZZZZZZZZ"],
        hint: "is named for Key ID K1L2M3N4P5, but key_id is")

    private static let wrongTeam = KnownCause(
        "wrong team", .profilesDisagree, command: ["--team-id", "ZZZZZZZZZZ"],
        hint: "profile 'web' has key K1L2M3N4P5 under team A1B2C3D4E5")

    /// A bundle id that Apple does not know as a client: only the way of the sign-in tells.
    private static let servicesID: KnownCause = {
        var cause = KnownCause(
            "an app's bundle id for a Services ID", .wrongClient,
            command: [
                "--client-id", "com.example.bundle", "--redirect-uri",
                "https://example.com/callback",
            ], hint: "profile 'web' has com.example.web")
        cause.doctor = ["--client-id", "com.example.bundle"]
        cause.isSeenOffline = false
        return cause
    }()

    private static let clock: KnownCause = {
        var cause = KnownCause(
            "clock 10 minutes fast", .clockAhead, command: [],
            hint: "this machine's clock is 10 minutes ahead of Apple's")
        cause.prepare = { _ = try await $0.emulator.control("clock", ["offset": "-10m"]) }
        cause.isSeenOffline = false
        return cause
    }()
}
