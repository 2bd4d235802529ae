public import SIWACrypto

/// A client_secret: the JWT by which a client proves itself to Apple's token endpoint.
///
/// ES256 over `iss` Team ID, `sub` client id, `aud` Apple, `iat`, `exp`, under the Key ID
/// (Apple: "Creating a client secret").
public struct ClientSecret: Sendable {
    /// The only audience Apple accepts.
    public static let audience = "https://appleid.apple.com"

    /// The longest lifetime Apple accepts: about six months.
    public static let longestLifetime = Duration.seconds(15_777_000)

    /// How far `iat` lies in the past: a clock that runs ahead of Apple's would
    /// otherwise put it in the future, which is an unexplained `invalid_client`.
    public static let backdating = Duration.seconds(60)

    /// The JWT.
    public let text: SecretText
    /// `iss`.
    public let teamID: TeamID
    /// `sub`.
    public let clientID: ClientID
    /// `kid`.
    public let keyID: KeyID
    /// `iat`.
    public let issuedAt: NumericDate
    /// `exp`.
    public let expiresAt: NumericDate

    /// Mints a secret that expires `lifetime` after `now`.
    ///
    /// - Parameter isVerified: verifies the signature before it leaves, which takes three times
    ///   as long as signing; see ``P256PrivateKey/signature(for:isVerified:)``.
    /// - Throws: ``ClientSecretError`` for a lifetime outside (0, ``longestLifetime``],
    ///   and when OpenSSL cannot sign.
    public init(
        signedBy key: SigningKey, for client: ClientID, of team: TeamID, at now: NumericDate,
        lifetime: Duration, isVerified: Bool = true
    ) throws(ClientSecretError) {
        guard lifetime >= .seconds(1) else { throw .tooShort(lifetime) }
        guard lifetime <= Self.longestLifetime else { throw .tooLong(lifetime) }
        (teamID, clientID, keyID) = (team, client, key.id)
        (issuedAt, expiresAt) = (now - Self.backdating, now + lifetime)
        let claims: JSON = [
            "aud": .string(Self.audience), "exp": .integer(expiresAt.seconds),
            "iat": .integer(issuedAt.seconds), "iss": .string(team.rawValue),
            "sub": .string(client.rawValue),
        ]
        do throws(OpenSSLError) {
            let signed = try CompactJWS.sign(
                header: ["alg": "ES256", "kid": .string(key.id.rawValue)], payload: claims
            ) { input throws(OpenSSLError) in
                try key.privateKey.signature(for: input, isVerified: isVerified).rawRepresentation
            }
            text = SecretText(signed)
        } catch {
            throw .signing(error)
        }
    }

    /// Reads one that was minted before, trusting nothing in it but its shape.
    ///
    /// Nil unless it is one this `key` signed for `client` of `team`.
    public init?(
        minted text: SecretText, by key: SigningKey, for client: ClientID, of team: TeamID
    ) {
        guard let jws = try? CompactJWS(text.bytes.revealed()),
            jws.header["alg"] == "ES256", jws.header["kid"]?.string == key.id.rawValue,
            jws.claims["iss"]?.isExactly(team.rawValue) == true,
            jws.claims["sub"]?.isExactly(client.rawValue) == true,
            jws.claims["aud"]?.isExactly(Self.audience) == true,
            let issuedAt = jws.claims["iat"]?.moment, let expiresAt = jws.claims["exp"]?.moment,
            let signature = P256Signature(rawRepresentation: jws.signature),
            (try? key.privateKey.publicKey.isValidSignature(
                signature, for: jws.signingInput.span)) == true
        else { return nil }
        self.text = text
        (teamID, clientID, keyID) = (team, client, key.id)
        (self.issuedAt, self.expiresAt) = (issuedAt, expiresAt)
    }
}

extension ClientSecret {
    /// Reads a secret that was minted on another machine, examined as ``ClientSecretFindings`` does.
    ///
    /// - Parameter expected: its `clientID` is the one the secret must be for.
    /// - Throws: ``ClientSecretError`` when Apple would refuse it.
    public init(
        given text: SecretText, for clientID: ClientID, expecting expected: ExpectedClient,
        at now: NumericDate
    ) throws(ClientSecretError) {
        var expected = expected
        expected.clientID = clientID
        let faults = ClientSecretFindings(in: text, expecting: expected, at: now).all
            .filter { $0.severity == .error }
        let claims = (try? CompactJWS(text.bytes.revealed()))?.claimsOfClientSecret
        if let expiry = claims?.expiresAt, faults.allSatisfy({ $0.code == .expired }),
            expiry <= now
        {
            throw .expired(expiry)
        }
        guard faults.isEmpty, let claims, claims.clientID == clientID else {
            throw .unusable(faults)
        }
        self.text = text
        (teamID, self.clientID, keyID) = (claims.teamID, clientID, claims.keyID)
        (issuedAt, expiresAt) = (claims.issuedAt, claims.expiresAt)
    }
}

extension CompactJWS {
    /// What every client_secret says; nil when something is missing.
    fileprivate var claimsOfClientSecret:
        (
            teamID: TeamID, clientID: ClientID, keyID: KeyID, issuedAt: NumericDate,
            expiresAt: NumericDate
        )?
    {
        guard let team = payload["iss"]?.string, let client = payload["sub"]?.string,
            let key = header["kid"]?.string, let issued = payload["iat"]?.integer,
            let expires = payload["exp"]?.integer
        else { return nil }
        return (
            TeamID(unchecked: team), ClientID(unchecked: client), KeyID(unchecked: key),
            NumericDate(issued), NumericDate(expires)
        )
    }
}

/// Why there is no client_secret for a request.
public enum ClientSecretError: Error, Hashable, Sendable {
    /// A lifetime of less than a second.
    case tooShort(Duration)
    /// More than Apple accepts.
    case tooLong(Duration)
    /// OpenSSL could not sign, or the signature did not verify.
    case signing(OpenSSLError)
    /// The secret that was given expired at that time.
    case expired(NumericDate)
    /// The secret that was given is for another client than this one.
    case otherClient(ClientID)
    /// The secret that was given cannot be used: its faults, the gravest first.
    case unusable([Finding])
}
