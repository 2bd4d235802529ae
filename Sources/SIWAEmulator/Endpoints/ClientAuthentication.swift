internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// Examines a client_secret as Apple does. Every fault is the same bare `invalid_client`
/// on the wire; the verdict says which one it was.
struct ClientAuthentication {
    let configuration: EmulatorConfiguration
    /// The teams whose secrets are accepted: one team, or both while users migrate.
    let teams: [EmulatedTeam]
    let revokedKeys: Set<KeyID>
    let behaviors: Behaviors
    let now: NumericDate
    let examination: Examination

    /// Checks the client_secret, and returns the team whose key signed it.
    func check(_ credentials: ClientCredentials) throws -> EmulatedTeam {
        guard let client = configuration.client(credentials.clientID) else {
            throw Refusal(
                .invalidClient, in: "client_id",
                because: "no client of team \(configuration.team.teamID)"
            )
        }
        examination.passed("client_id", client.clientID.rawValue)
        let token = try read(credentials.secret)
        let (key, team) = try key(of: token, for: client)
        examination.passed("client_secret", "alg is ES256, kid is \(key.keyID)")
        try checkSignature(of: token, with: key)
        examination.passed("client_secret", "signature verifies with key \(key.keyID)")
        try checkNames(in: token.payload, of: team, client: client)
        try ClientSecretTimes(behaviors: behaviors, now: now, examination: examination)
            .check(token.payload)
        return team
    }

    private func read(_ secret: String) throws(Refusal) -> CompactJWS {
        do throws(CompactJWSError) {
            return try CompactJWS(secret)
        } catch {
            throw .clientSecret("\(error)")
        }
    }

    private func key(
        of token: CompactJWS, for client: EmulatedClient
    ) throws(Refusal) -> (EmulatedKey, EmulatedTeam) {
        guard token.header["alg"] == "ES256" else {
            throw .clientSecret("alg is \(Self.quoted(token.header["alg"])), must be ES256")
        }
        guard let name = token.header["kid"]?.string else {
            throw .clientSecret("kid is missing from the header")
        }
        guard let team = teams.first(where: { $0.key(name) != nil }), let key = team.key(name)
        else {
            throw .clientSecret("kid '\(name.clipped)' is not a key of this team")
        }
        guard !revokedKeys.contains(key.keyID) else {
            throw .clientSecret("key \(key.keyID) is revoked")
        }
        // The key restrictions of a client apply to the first team's keys only.
        let isForeign = team.teamID != configuration.team.teamID
        guard isForeign || client.keyIDs?.contains(key.keyID) ?? true else {
            throw .clientSecret("key \(key.keyID) is not configured for \(client.clientID)")
        }
        return (key, team)
    }

    private func checkSignature(of token: CompactJWS, with key: EmulatedKey) throws {
        let bytes = token.signature
        guard let signature = P256Signature(rawRepresentation: bytes) else {
            let isDER = bytes.count > 2 && bytes[0] == 0x30 && Int(bytes[1]) == bytes.count - 2
            throw Refusal.clientSecret(
                isDER
                    ? "signature is DER, not r||s"
                    : "signature has \(bytes.count) bytes, must have 64")
        }
        guard try key.publicKey.isValidSignature(signature, for: token.signingInput.span) else {
            throw Refusal.clientSecret(
                "signature does not verify with key \(key.keyID): another .p8, or changed since")
        }
    }

    private func checkNames(
        in claims: JSON, of team: EmulatedTeam, client: EmulatedClient
    ) throws(Refusal) {
        let expected = [
            ("iss", team.teamID.rawValue, "the Team ID"),
            ("sub", client.clientID.rawValue, "the client_id"),
            ("aud", ClientSecret.audience, "exactly this text"),
        ]
        for (name, value, meaning) in expected {
            let claim = name == "aud" ? audience(in: claims) : claims[name]
            guard claim?.string?.isExactly(value) != true else {
                examination.passed("client_secret", "\(name) is '\(value)'")
                continue
            }
            throw .clientSecret(
                "\(name) is \(Self.quoted(claim)), must be '\(value)', \(meaning)")
        }
    }

    /// `aud`; an array with one element means the same as the element (RFC 7519 §4.1.3). No
    /// recording shows an array, but widely used software always sends one.
    private func audience(in claims: JSON) -> JSON? {
        guard behaviors.audienceArray == .accepted, let elements = claims["aud"]?.elements,
            elements.count == 1
        else { return claims["aud"] }
        examination.noted("client_secret", "aud is an array of one")
        return elements[0]
    }

    private static func quoted(_ value: JSON?) -> String {
        value?.string.map { "'\($0.clipped)'" } ?? value?.kind ?? "missing"
    }
}

extension Refusal {
    /// Apple's answer to every fault of a client_secret.
    static func clientSecret(_ fault: String) -> Refusal {
        Refusal(.invalidClient, in: "client_secret", because: fault)
    }
}
