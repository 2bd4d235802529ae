internal import CommandTable

/// The options of every command that verifies what Apple signed, as they were typed.
struct VerificationOptions: Sendable {
    var audiences: [String] = []
    var issuers: [String] = []
    var leeway: DurationText?
    var moment: TimeText?
    var keySetFile: String?
    var isOffline = false

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        all.map { $0.rerooted(at: path) }
    }

    private static let all: [Parameter<Self>] = [
        .option(
            "audience", \.audiences, value: "ID",
            help: "Accept what is for this client id, in place of client_id."),
        .option(
            "issuer", \.issuers, value: "URL",
            help: "Accept this issuer, in place of https://appleid.apple.com."),
        .option(
            "leeway", \.leeway, value: "DURATION",
            help: "How far clocks may differ, either way (60s unless set)."),
        .option(
            "at", \.moment, value: "TIME",
            help: "Judge as of this moment, as 2026-11-21T08:30:00Z, in place of now."),
        .option(
            "jwks", \.keySetFile, value: "FILE",
            help: "Take the keys from this JWK Set; use no network.", completion: .file),
        .flag("offline", \.isOffline, help: "Take the keys from the disk cache; use no network."),
    ]
}
