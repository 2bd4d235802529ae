internal import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle

extension ClientSecret {
    /// Reads a secret that was minted on another machine, examined as ``ClientSecretFindings`` does.
    ///
    /// - Parameter expected: its `clientID` is the one the secret must be for.
    /// - Throws: ``ClientSecretError`` when Apple would refuse it.
    package init(
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
        self.init(
            text, of: claims.teamID, for: clientID, by: claims.keyID, issuedAt: claims.issuedAt,
            expiresAt: claims.expiresAt)
    }
}

extension CompactJWS {
    /// The required claims of a client_secret; nil if one is missing.
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
