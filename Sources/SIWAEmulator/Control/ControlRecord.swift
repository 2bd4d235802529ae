internal import SIWAJOSE

/// One control request that changed something, for the console.
struct ControlRecord: Sendable {
    let at: NumericDate
    /// The control: `faults`.
    let name: String
    /// What was requested, without secrets.
    let summary: String
    /// Why it was refused; nil when it was carried out.
    let error: String?
    /// Whether the request came from the console, not from a program.
    let isFromConsole: Bool
}

extension JSON {
    /// The members of a control request on one line, short and without secrets.
    var controlSummary: String {
        let secret: Set<String> = ["nonce", "code", "code_challenge", "payload", "token"]
        let parts = (members ?? []).filter { !secret.contains($0.name) }.map {
            "\($0.name.clipped) \($0.value.string ?? $0.value.text)"
        }
        return parts.joined(separator: ", ").clipped
    }
}
