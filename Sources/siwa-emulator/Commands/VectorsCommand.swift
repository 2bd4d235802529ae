internal import SIWACommandTable
internal import SIWAConformance
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// `siwa-emulator vectors`: prints tokens that a verifier must accept or refuse.
struct VectorsCommand: Command {
    static let name = "vectors"
    static let abstract = "Print tokens with the result that a verifier must come to."
    static let discussion = """
        The result is one JSON document in the manner of Wycheproof: groups of identity tokens or \
        notifications, each with its key set, and for each token "valid", "invalid" or \
        "acceptable" (either is right). Nothing is started, and no folder is needed. \
        docs/conformance.md has loops over it for several languages.

        The same --seed and --at give the same bytes. Without --at, the tokens are good from now \
        on for --lifetime, for verifiers whose clock cannot be set.
        """
    static let examples = [
        Example(
            "siwa-emulator vectors --audience com.example.app --out vectors.json",
            "Write tokens for your verifier, which are good for an hour."),
        Example(
            "siwa-emulator vectors --seed 1 --at 2026-11-18T12:26:40Z",
            "Print the same document every time."),
        Example(
            "siwa-emulator vectors --kind notification | jq '.testGroups[0].tests[0]'",
            "Show the first notification."),
    ]
    static let parameters: [Parameter<Self>] = [
        .option(
            "out", \.out, value: "FILE", help: "Write to this file, in place of standard output.",
            completion: .file),
        .option(
            "audience", \.audiences, value: "ID",
            help: "A client id that the verifier accepts; the first one is the good token's."),
        .option("nonce", \.nonce, value: "RAW", help: "The nonce, before it is hashed."),
        .option("at", \.time, value: "TIME", help: "The time at which the tokens are good."),
        .option("lifetime", \.lifetime, value: "D", help: "How long good tokens are good."),
        .option("seed", \.seed, value: "N", help: "Generate the same keys and tokens every time."),
        .option("kind", \.kind, value: "KIND", help: "Only tokens of this kind."),
    ]

    var out: String?
    var audiences: [String] = []
    var nonce: String?
    var time: VectorTime?
    var lifetime = ConformDuration(.seconds(3600))
    var seed: Int?
    var kind: VectorKind?

    func run(in world: EmulatorWorld) async throws {
        var options = VectorOptions(generator: "siwa-emulator \(version)")
        if !audiences.isEmpty { options.audiences = audiences }
        options.nonce = nonce
        options.at = time?.date ?? NumericDate(secondsSinceEpoch())
        options.lifetime = lifetime.duration
        options.seed = try seed.map(UInt64.init(truncatingIfNeeded:)) ?? Self.newSeed()
        if let kind { options.kinds = [kind.kind] }
        let text = try await VectorDocument(options).json.indentedText + "\n"
        guard let out else { return try world.print(text) }
        try writeFile(SecretBytes(text.utf8), to: out, permissions: 0o644)
    }

    private static func newSeed() throws -> UInt64 {
        try Random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
}

/// A time in RFC 3339, or in seconds since 1970.
struct VectorTime: ParameterValue, Hashable {
    let date: NumericDate

    init?(argument: String) {
        if let date = NumericDate(rfc3339: argument) {
            self.date = date
        } else if let seconds = Int(argument), (0...253_402_300_799).contains(seconds) {
            date = NumericDate(seconds)
        } else {
            return nil
        }
    }

    static var expectation: String { "a time such as 2026-11-21T08:30:00Z, or seconds since 1970" }

    var argumentDescription: String { date.rfc3339 }
}

/// Which tokens are printed.
enum VectorKind: String, ParameterValue, CaseIterable {
    case identityToken = "identity-token"
    case notification

    var kind: VectorOptions.Kind {
        switch self {
        case .identityToken: .identityToken
        case .notification: .notification
        }
    }
}
