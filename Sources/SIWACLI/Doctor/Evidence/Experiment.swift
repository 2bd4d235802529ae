internal import SIWAJOSE
internal import SIWALifecycle

/// One harmless request to Apple, which changes nothing.
struct Experiment: Sendable {
    let name: String
    let request: HTTPRequest
    /// What a transcript may show of the parameters: their names, and the values that are neither
    /// secret nor identify a user or a client.
    let parameters: [JSON.Member]
    let facts: [EvidenceFact]
}
