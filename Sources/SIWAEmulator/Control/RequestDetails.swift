internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// What the console shows of one of the latest requests beyond its ``RequestRecord``.
///
/// Parameters keep their values, because the findings about a client_secret need its signature.
/// Only ``ShownParameter`` shows them: it masks every value that is not known to be harmless.
struct RequestDetails: Sendable {
    /// Scheme, host and port as the client named them.
    let origin: String
    let fields: [HTTPField]
    let parameters: [SentParameter]
    /// The answer as it was sent, without its body if that is over 4 KiB or not JSON.
    let answer: [UInt8]
    /// The team that owned the clients, and the time by which its secrets were checked.
    let teamID: TeamID
    let at: NumericDate
}

extension RequestDetails {
    /// The longest value that is kept, so that the latest requests fit in a few megabytes.
    private static let longest = 4096

    init(
        _ request: EmulatorRequest, _ form: FormReading, _ sent: Page,
        teamID: TeamID, at: NumericDate
    ) {
        origin = request.origin.clipped
        fields = request.fields.prefix(32).map { HTTPField($0.name.clipped, $0.value.clipped) }
        parameters = ((try? form.get())?.parameters ?? []).prefix(32).map {
            SentParameter(
                name: $0.name.clipped,
                value: $0.value.utf8.count > Self.longest ? $0.value.clipped : $0.value)
        }
        let isJSON = sent.fields["content-type"]?.hasPrefix("application/json") ?? false
        answer = isJSON && sent.body.count <= Self.longest ? sent.body : []
        self.teamID = teamID
        self.at = at
    }

    /// The value of a parameter.
    subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }
}

/// A parameter as the client sent it, decoded.
struct SentParameter: Sendable {
    let name: String
    let value: String
}

/// A parameter or header field as people may see it.
struct ShownParameter {
    let name: String
    /// The value, or nil when it is secret or its meaning is unknown.
    let value: String?
    /// Identifies the value without revealing it: 12 hexadecimal digits of its SHA-256.
    let fingerprint: String

    private static let harmless: Set<String> = [
        "grant_type", "client_id", "redirect_uri", "response_type", "response_mode", "scope",
        "token_type_hint", "code_challenge_method", "sub", "target", "transfer_sub", "user",
        "email", "action",
    ]
    private static let harmlessFields: Set<String> = [
        "host", "user-agent", "accept", "accept-encoding", "accept-language", "content-type",
        "content-length", "connection", "origin",
    ]

    init(_ parameter: SentParameter) {
        self.init(parameter.name, parameter.value, Self.harmless.contains(parameter.name))
    }

    init(_ field: HTTPField) {
        let isHarmless = Self.harmlessFields.contains(field.name.lowercased())
        self.init(field.name, field.value, isHarmless)
    }

    private init(_ name: String, _ value: String, _ isHarmless: Bool) {
        self.name = name
        self.value = isHarmless ? value.clipped : nil
        fingerprint = isHarmless ? "" : SecretText(value).fingerprint
    }
}
