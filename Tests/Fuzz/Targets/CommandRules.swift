internal import SIWADiagnosis
internal import SIWAJOSE

/// Every text posted as a notification is answered with a verdict; and it is no, since the one
/// Apple really signed has expired.
func checkNotification(_ input: [UInt8]) async throws(Violation) {
    let run = await CommandRun(
        ["notification", "-", "--jwks", "keys.json", "--audience", Apple2019.audiences[1]],
        files: ["keys.json": Apple2019.keySetFile], input: input)
    try run.check(allowing: [1, 2])
    guard let result = try run.result() else { return }
    try demand(result["valid"] == false, "an expired notification is not valid")
    let failed = result["checks"]?.elements?.filter { $0["status"] == "failed" } ?? []
    try demand(!failed.isEmpty, "what is not valid has a check that failed")
}

/// Every text that is inspected has a known kind, and a text that is not a token is not repeated.
func checkInspection(_ input: [UInt8]) async throws(Violation) {
    let run = await CommandRun(
        ["inspect", "-"],
        variables: [
            "SIWA_TEAM_ID": "A1B2C3D4E5", "SIWA_CLIENT_ID": "com.example.app",
            "SIWA_KEY_ID": "K1L2M3N4P5", "SIWA_PRIVATE_KEY": exampleKey,
        ], input: input)
    try run.check(allowing: [0, 2])
    guard let result = try run.result() else { return }
    let kind = result["kind"]?.string.flatMap { Recognition.Kind(rawValue: $0) }
    guard let kind else { throw Violation("the kind is a known one: \(result.text)") }
    for finding in result["findings"]?.elements ?? [] {
        for name in ["code", "severity", "confidence", "seen", "advice"] {
            try demand(finding[name]?.string?.isEmpty == false, "a finding says its \(name)")
        }
        try demand(
            finding["seen"]?.string.map { $0.unicodeScalars.count < 1000 } ?? false,
            "a finding shows little of what it found")
    }
    let secrets: Set<Recognition.Kind> = [
        .privateKey, .authorizationCode, .refreshToken, .accessToken, .tokenResponse,
    ]
    try demand(
        !secrets.contains(kind) || !repeats(result.text, input), "a secret is not printed again")
}

/// For every content of the configuration, the error names the file.
func checkConfiguration(_ input: [UInt8]) async throws(Violation) {
    let path = "/fuzz/config.json"
    let shown = await CommandRun(["config", "show", "--config", path], files: [path: input])
    try shown.check(allowing: [0, 3])
    try demand(
        shown.exitCode == 0 || shown.errors.contains { $0.contains(path) },
        "an error names the file: \(shown.errors)")
    let url = await CommandRun(["authorize-url", "--config", path], files: [path: input])
    try url.check(allowing: [0, 2, 3])
    let isBare = url.output.dropLast().allSatisfy { (0x21...0x7E).contains($0) }
    try demand(isBare, "a URL has no spaces and nothing beyond ASCII")
    let refresh = await CommandRun(
        ["refresh", "--dry-run", "--token", "-", "--config", path],
        variables: ["SIWA_PRIVATE_KEY": exampleKey, "SIWA_KEY_ID": "K1L2M3N4P5"],
        files: [path: input], input: Array("r0".utf8))
    try refresh.check(allowing: [0, 3])
    _ = try refresh.result()
}

/// RFC 7515, appendix A.3, in PKCS#8: a published key.
private let exampleKey = """
    -----BEGIN PRIVATE KEY-----
    MIGTAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBHkwdwIBAQQgjpsQnnGQmL+YBIff
    H1136cspYG6+0iY7X1fCE9+E9LKgCgYIKoZIzj0DAQehRANCAAR/zc4ncPbEXUGD
    y+5v20t7WAczNXvp7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpG
    IyiFiOWt
    -----END PRIVATE KEY-----
    """
