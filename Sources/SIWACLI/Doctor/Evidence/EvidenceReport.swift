internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// Apple's answers to harmless requests, without the client's identifiers, and what they show about
/// siwa-emulator's assumptions. Users can send it to the project (docs/emulator.md).
struct EvidenceReport: Sendable {
    let json: JSON
    let observations: [EvidenceFact.Observation]

    func count(_ verdict: EvidenceFact.Verdict) -> Int {
        observations.count { $0.verdict == verdict }
    }

    /// Sends all requests; missing answers are part of the report.
    init(_ context: DoctorContext, _ network: AppleConnection) async throws {
        let redactor = Redactor(context)
        var entries: [JSON] = []
        var observations: [EvidenceFact.Observation] = []
        for experiment in try await Self.plan(context, network).all() {
            let answer: JSON
            do {
                let response = try await network.transport.send(
                    experiment.request, timeout: network.deadline.remaining)
                answer = redactor.transcript(response)
                observations += experiment.facts.map { $0.observation(in: response) }
            } catch {
                answer = ["failed": .string(error.kind.rawValue)]
                observations += experiment.facts.map {
                    EvidenceFact.Observation(name: $0.name, expected: $0.expected, seen: nil)
                }
            }
            entries.append(redactor.entry(experiment, answer))
        }
        observations += EvidenceFact.untouched.map {
            EvidenceFact.Observation(name: $0, expected: "", seen: nil)
        }
        self.observations = observations
        json = [
            "siwa": .string(version), "at": .string(context.now.rfc3339),
            "base_url": .string(network.baseURL.description), "requests": .array(entries),
            "facts": .array(observations.map(\.json)),
        ]
    }

    private static func plan(_ context: DoctorContext, _ network: AppleConnection) throws
        -> ExperimentPlan
    {
        let client = context.client?.client
        return ExperimentPlan(
            baseURL: network.baseURL, clientID: try context.clientID.get(),
            mint: { change in await client?.changedSecret(at: context.now, change) },
            redirectURI: try? context.settings.redirectURI())
    }
}

extension Client {
    /// A short-lived secret with changed claims, some of which Apple should refuse.
    fileprivate func changedSecret(
        at now: NumericDate, _ change: (inout [JSON.Member]) -> Void
    ) async -> SecretText? {
        var claims = [
            JSON.Member("iss", .string(teamID.rawValue)),
            JSON.Member("iat", .integer((now - ClientSecret.backdating).seconds)),
            JSON.Member("exp", .integer((now + .seconds(300)).seconds)),
            JSON.Member("aud", .string(ClientSecret.audience)),
            JSON.Member("sub", .string(clientID.rawValue)),
        ]
        change(&claims)
        let header: JSON = ["alg": "ES256", "kid": .string(signingKey.id.rawValue)]
        return try? await signingKey.token(header: header, payload: .object(claims))
    }
}

/// Removes secrets and the client's identifiers.
private struct Redactor {
    private let names: [(text: String, label: String)]

    init(_ context: DoctorContext) {
        names = [
            ((try? context.settings.redirectURI()) ?? nil, "<redirect_uri>"),
            ((try? context.clientID.get())?.rawValue, "<client_id>"),
            ((try? context.teamID.get())?.rawValue, "<team_id>"),
            ((try? context.keyID.get())?.rawValue, "<key_id>"),
        ].compactMap { text, label in text.map { ($0, label) } }
    }

    func entry(_ experiment: Experiment, _ answer: JSON) -> JSON {
        let path = experiment.request.url.prefix { $0 != "?" }
        return [
            "name": .string(experiment.name),
            "method": .string(experiment.request.method.rawValue), "url": .string(String(path)),
            "header": .object(
                experiment.request.fields.map { JSON.Member($0.name, .string($0.value)) }),
            "parameters": .object(
                experiment.parameters.map {
                    JSON.Member($0.name, .string(redacted($0.value.string ?? "")))
                }.uniqueNames),
            "answer": answer,
        ]
    }

    func transcript(_ response: HTTPResponse) -> JSON {
        [
            "status": .integer(response.status),
            "header": .object(response.fields.map(shown).uniqueNames), "body": body(response),
        ]
    }

    /// The header fields whose values describe Apple, not the user of siwa.
    private static let plain = [
        "server", "date", "content-type", "content-length", "cache-control", "pragma",
        "transfer-encoding", "connection", "strict-transport-security", "x-frame-options",
        "x-content-type-options", "x-xss-protection", "vary", "retry-after", "www-authenticate",
    ]

    private func shown(_ field: HTTPField) -> JSON.Member {
        let isPlain = Self.plain.contains(field.name.lowercased())
        return JSON.Member(
            field.name, .string(isPlain ? printable(redacted(field.value), limit: 200) : "<hidden>")
        )
    }

    /// The body of an error; for other bodies, only the length.
    private func body(_ response: HTTPResponse) -> JSON {
        guard let json = try? JSON(response.body), let members = json.members else {
            return ["bytes": .integer(response.body.count)]
        }
        let isError = response.oauthError != nil
        return .object(
            members.map { member in
                let value = member.value.string ?? member.value.kind
                return JSON.Member(
                    member.name,
                    .string(isError ? printable(redacted(value), limit: 200) : "<hidden>"))
            })
    }

    private func redacted(_ text: String) -> String {
        names.reduce(text) { $0.replacingEvery($1.text, with: $1.label) }
    }
}

extension [JSON.Member] {
    /// The members without repeated names.
    fileprivate var uniqueNames: [JSON.Member] {
        var seen: Set<String> = []
        return filter { seen.insert($0.name).inserted }
    }
}
