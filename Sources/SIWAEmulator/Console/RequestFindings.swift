internal import SIWACrypto
internal import SIWADiagnosis
internal import SIWAJOSE
internal import SIWALifecycle

/// The findings of `siwa inspect` and `siwa doctor` about a request.
struct RequestFindings {
    let all: [Finding]

    init(_ details: RequestDetails, _ state: ConsoleState) {
        let secret = details["client_secret"].map(SecretText.init).map {
            ClientSecretFindings(
                in: $0, expecting: Self.expected(details, state), at: details.at
            ).all
        }
        all = (secret ?? []) + Self.credentials(details)
    }

    private static func expected(
        _ details: RequestDetails, _ state: ConsoleState
    ) -> ExpectedClient {
        let keys = state.configuration.teams.first { $0.teamID == details.teamID }?.keys ?? []
        let named = details["client_secret"].flatMap { try? CompactJWS($0) }?.header["kid"]?.string
        let known = keys.map { KnownKey("key \($0.keyID) of emulator.json", $0.publicKey) }
        let key = zip(keys, known).first { $0.0.keyID.rawValue == named }?.1
        return ExpectedClient(
            teamID: details.teamID,
            clientID: details["client_id"].flatMap {
                state.configuration.client($0)?.clientID
            },
            key: key, otherKeys: known)
    }

    /// Findings about another kind of text in place of a code or a token.
    private static func credentials(_ details: RequestDetails) -> [Finding] {
        let kinds: [(String, Recognition.Kind)] = [
            ("code", .authorizationCode), ("refresh_token", .refreshToken),
        ]
        return kinds.compactMap { name, kind in
            guard let value = details[name] else { return nil }
            let found = Inspection(
                of: SecretText(value), expecting: ExpectedClient(), at: details.at
            ).recognition
            guard found.kind != kind, found.kind != .other else { return nil }
            return Finding(
                .wrongTokenPasted, seen: "\(name) is \(found.name)",
                advice: "send what Apple issued as \(name)")
        }
    }
}
