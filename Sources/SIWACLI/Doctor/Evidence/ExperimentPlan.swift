internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// Composes the experiments for one client.
struct ExperimentPlan {
    let baseURL: BaseURL
    let clientID: ClientID
    /// Mints a secret with changed claims; nil without a key.
    let mint: (_ change: (inout [JSON.Member]) -> Void) async -> SecretText?
    let redirectURI: String?

    func all() async -> [Experiment] {
        documents + badRequests + (await secrets()) + (await revocations()) + pages
    }

    static let agent = HTTPField("User-Agent", "siwa/\(version)")
    static let unregistered = "https://unregistered.invalid/callback"

    func get(
        _ name: String, _ path: String, asking query: [(String, String)] = [],
        fields: [HTTPField] = [ExperimentPlan.agent], _ facts: [EvidenceFact]
    ) -> Experiment {
        let form = Form(query.map { ($0, .plain($1)) })
        let encoded = String(decoding: form.encoded().revealed(), as: UTF8.self)
        return Experiment(
            name: name,
            request: HTTPRequest(
                method: .get,
                url: baseURL.description + path + (query.isEmpty ? "" : "?" + encoded),
                fields: fields),
            parameters: query.map { JSON.Member($0, .string($1)) }, facts: facts)
    }

    func post(
        _ name: String, _ endpoint: Endpoint, _ parameters: [(String, Form.Value)],
        type: String = Form.contentType, _ facts: [EvidenceFact]
    ) -> Experiment {
        Experiment(
            name: name,
            request: HTTPRequest(
                method: .post, url: baseURL.url(of: endpoint),
                fields: [Self.agent, HTTPField("Content-Type", type)],
                body: Form(parameters).encoded(),
                secrets: parameters.compactMap { _, value in
                    if case .secret(let text) = value { text } else { nil }
                }),
            parameters: parameters.map { name, value in
                if case .plain(let text) = value { return JSON.Member(name, .string(text)) }
                return JSON.Member(name, "<secret>")
            }, facts: facts)
    }

    var client: (String, Form.Value) { ("client_id", .plain(clientID.rawValue)) }

    func code(_ text: String) -> [(String, Form.Value)] {
        [("grant_type", .plain("authorization_code")), ("code", .plain(text)), client]
    }

    static let badSecret = ("client_secret", Form.Value.plain("siwa-doctor"))
}
