package import SIWACrypto
package import SIWAJOSE

/// A client_secret: the JWT with which a client authenticates at Apple's token endpoint.
///
/// ES256 over `iss` Team ID, `sub` client id, `aud` Apple, `iat`, `exp`, under the Key ID
/// (Apple: "Creating a client secret").
package struct ClientSecret: Sendable {
    /// The only audience Apple accepts.
    package static let audience = "https://appleid.apple.com"

    /// The longest lifetime Apple accepts: about six months.
    package static let longestLifetime = Duration.seconds(15_777_000)

    /// How far in the past `iat` is set: with a clock ahead of Apple's it would otherwise be in the
    /// future, which Apple answers with `invalid_client` and no explanation.
    package static let backdating = Duration.seconds(60)

    /// The JWT, in compact serialization.
    package let text: SecretText
    /// `iss`.
    package let teamID: TeamID
    /// `sub`.
    package let clientID: ClientID
    /// `kid`.
    package let keyID: KeyID
    /// `iat`.
    package let issuedAt: NumericDate
    /// `exp`.
    package let expiresAt: NumericDate

    /// Mints a secret that expires `lifetime` after `now` with a private key at hand, for those who
    /// mint thousands; ``signed(by:for:of:at:lifetime:timekeeper:)`` works with every key.
    ///
    /// - Parameter isVerified: verifies the signature, which takes three times as long as signing; see
    ///   ``P256PrivateKey/signature(for:isVerified:)``.
    /// - Throws: ``ClientSecretError``.
    package init(
        signedBy key: P256PrivateKey, as keyID: KeyID, for client: ClientID, of team: TeamID,
        at now: NumericDate, lifetime: Duration, isVerified: Bool = true
    ) throws(ClientSecretError) {
        let unsigned = try UnsignedClientSecret(
            by: keyID, for: client, of: team, at: now, lifetime: lifetime)
        do throws(OpenSSLError) {
            self = unsigned.signed(
                try unsigned.signingInput.withSpan { input throws(OpenSSLError) in
                    try key.signature(for: input, isVerified: isVerified)
                })
        } catch {
            throw .signer(SignerFailure(.key, "the private key cannot sign: \(error)"))
        }
    }

    /// Creates a secret from its parts; nothing is checked.
    package init(
        _ text: SecretText, of teamID: TeamID, for clientID: ClientID, by keyID: KeyID,
        issuedAt: NumericDate, expiresAt: NumericDate
    ) {
        self.text = text
        (self.teamID, self.clientID, self.keyID) = (teamID, clientID, keyID)
        (self.issuedAt, self.expiresAt) = (issuedAt, expiresAt)
    }

    /// Whether requests may use the secret at `now` and for this long afterwards.
    ///
    /// Apple refuses a secret until its `iat` is past, which matters if the machine that minted it
    /// has a fast clock.
    package func isValid(at now: NumericDate, for remaining: Duration) -> Bool {
        issuedAt <= now && expiresAt > now && expiresAt - now >= remaining
    }

    /// Reads a secret that was minted before, without trusting its claims.
    ///
    /// Nil unless `key` signed it for `client` of `team`.
    package init?(
        minted text: SecretText, by key: SigningKey, for client: ClientID, of team: TeamID
    ) {
        guard let jws = try? CompactJWS(text.bytes.revealed()),
            jws.header["alg"] == "ES256", jws.header["kid"]?.string == key.id.rawValue,
            jws.claims.has(.iss, exactly: team.rawValue),
            jws.claims.has(.sub, exactly: client.rawValue),
            jws.claims.has(.aud, exactly: Self.audience),
            let issuedAt = jws.claims.moment(.iat), let expiresAt = jws.claims.moment(.exp),
            let signature = P256Signature(rawRepresentation: jws.signature),
            (try? key.publicKey.isValidSignature(
                signature, for: jws.signingInput.span)) == true
        else { return nil }
        self.text = text
        (teamID, clientID, keyID) = (team, client, key.id)
        (self.issuedAt, self.expiresAt) = (issuedAt, expiresAt)
    }
}

/// A client_secret without its signature.
struct UnsignedClientSecret: Sendable {
    private let teamID: TeamID
    private let clientID: ClientID
    private let keyID: KeyID
    private let issuedAt: NumericDate
    private let expiresAt: NumericDate
    /// What is signed.
    let signingInput: SecretBytes

    init(
        by keyID: KeyID, for clientID: ClientID, of teamID: TeamID, at now: NumericDate,
        lifetime: Duration
    ) throws(ClientSecretError) {
        guard lifetime >= .seconds(1) else { throw .tooShort(lifetime) }
        guard lifetime <= ClientSecret.longestLifetime else { throw .tooLong(lifetime) }
        (self.teamID, self.clientID, self.keyID) = (teamID, clientID, keyID)
        (issuedAt, expiresAt) = (now - ClientSecret.backdating, now + lifetime)
        signingInput = CompactJWS.signingInput(
            header: ["alg": "ES256", "kid": .string(keyID.rawValue)],
            payload: [
                "aud": .string(ClientSecret.audience), "exp": .integer(expiresAt.seconds),
                "iat": .integer(issuedAt.seconds), "iss": .string(teamID.rawValue),
                "sub": .string(clientID.rawValue),
            ])
    }

    /// With 64 zeros, which are nobody's signature.
    var withoutSignature: SecretText {
        SecretText(CompactJWS.compact(signingInput, signature: Array(repeating: 0, count: 64)))
    }

    func signed(_ signature: P256Signature) -> ClientSecret {
        ClientSecret(
            SecretText(
                CompactJWS.compact(signingInput, signature: signature.rawRepresentation)),
            of: teamID, for: clientID, by: keyID, issuedAt: issuedAt, expiresAt: expiresAt)
    }
}

/// Why there is no client_secret for a request.
package enum ClientSecretError: Error, Hashable, Sendable {
    /// A lifetime of less than a second.
    case tooShort(Duration)
    /// More than Apple accepts.
    case tooLong(Duration)
    /// The signer of the private key did not sign.
    case signer(SignerFailure)
    /// The signer of the private key has not answered yet.
    case pending
    /// The secret that was given expired at that time.
    case expired(NumericDate)
    /// The secret that was given is for another client than this one.
    case otherClient(ClientID)
    /// The secret that was given cannot be used: its faults, the gravest first.
    case unusable([Finding])
}

extension ClientSecretError: CustomStringConvertible {
    /// What is wrong, as a sentence without a full stop.
    package var description: String {
        switch self {
        case .tooShort: "the lifetime of a client_secret must be at least a second"
        case .tooLong:
            "Apple accepts a client_secret for at most 15777000 s (six months, 182d14h30m)"
        case .signer(let failure): failure.reason
        case .pending: "the signer did not answer in time"
        case .expired(let time): "the client_secret expired at \(time.rfc3339)"
        case .otherClient(let clientID): "the client_secret is not for the client \(clientID)"
        case .unusable(let faults):
            "the client_secret cannot be used: \(faults.first?.seen ?? "claims are missing")"
        }
    }
}
