internal import SIWAApplication
internal import SIWACommandTable

/// The options of the commands that verify Apple's tokens.
struct VerificationOptions: Sendable {
    var audiences: [String] = []
    var issuers: [String] = []
    var leeway: DurationArgument?
    var time: TimestampArgument?
    var keySetFile: String?
    var isOffline = false

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        all.map { $0.rerooted(at: path) }
    }

    private static let all: [Parameter<Self>] = [
        .option(
            "audience", \.audiences, value: "ID",
            help: "Accept tokens for this client id; replaces client_id."),
        .option(
            "issuer", \.issuers, value: "URL",
            help: "Accept this issuer; replaces https://appleid.apple.com."),
        .option(
            "leeway", \.leeway, value: "DURATION",
            help: "The tolerated clock skew (60s unless set)."),
        .option(
            "at", \.time, value: "TIME",
            help: "Verify as of this time, such as 2026-11-21T08:30:00Z, instead of now."),
        .option(
            "jwks", \.keySetFile, value: "FILE",
            help: "Read the keys from this JWK Set; use no network.", completion: .file),
        .flag("offline", \.isOffline, help: "Use the cached keys; use no network."),
    ]
}
