/// A reader of untrusted texts, and the rules that it must obey for every text.
///
/// The fuzzer generates texts (docs/testing.md); the ordinary tests replay the recorded ones.
package enum FuzzTarget: String, CaseIterable, Sendable {
    case base64URL = "base64url"
    case json
    case compactJWS = "jws"
    case keyText = "key-text"
    case keySet = "jwks"
    case tokenResponse = "token-response"
    case notification
    case inspection = "inspect"
    case configuration
    case commandLine = "command-line"
    case cursor
    case leases
    case copy

    /// Reads `input`.
    ///
    /// - Throws: ``Violation`` of a rule. A trap is a finding as well.
    package func check(_ input: [UInt8]) async throws(Violation) {
        switch self {
        case .base64URL: try checkBase64URL(input)
        case .json: try checkJSON(input)
        case .compactJWS: for text in tokens(in: input) { try checkCompactJWS(text) }
        case .keyText: try checkKeyText(input)
        case .keySet: try checkKeySet(input)
        case .tokenResponse: try checkTokenResponse(input)
        case .notification: for text in tokens(in: input) { try await checkNotification(text) }
        case .inspection: for text in tokens(in: input) { try await checkInspection(text) }
        case .configuration: try await checkConfiguration(input)
        case .commandLine: try await checkCommandLine(input)
        case .cursor: try checkCursor(input)
        case .leases: try checkLeases(input)
        case .copy: try checkCopy(input)
        }
    }
}

/// A rule is violated.
package struct Violation: Error, CustomStringConvertible {
    /// The rule.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Throws unless `holds`.
func demand(_ holds: Bool, _ rule: @autoclosure () -> String) throws(Violation) {
    guard holds else { throw Violation(rule()) }
}
