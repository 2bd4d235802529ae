internal import SIWAJOSE
internal import SIWALifecycle

// JWTs, recognised by their header and claims.
extension Recognition {
    init(_ jws: CompactJWS) { self = JWTMarks(jws).recognition }
}

/// The features that distinguish the JWTs of Apple's many interfaces.
private struct JWTMarks {
    let header: JSON
    let claims: JSON

    init(_ jws: CompactJWS) { (header, claims) = (jws.header, jws.payload) }

    var recognition: Recognition {
        if claims["events"] != nil {
            return Recognition(.notification, "a server-to-server notification")
        }
        if isIssuedByApple, !isES256 { return Recognition(.identityToken, "an identity token") }
        if let name = ofAnotherInterface { return Recognition(.other, name) }
        if isForApple || isES256 || TeamID.fault(in: text("iss")) == nil {
            return Recognition(.clientSecret, "a client_secret")
        }
        return Recognition(.other, "a JWT that does not belong to Sign in with Apple")
    }

    private func text(_ claim: String) -> String { claims[claim]?.string ?? "" }

    private var isES256: Bool { header["alg"] == "ES256" || header["alg"] == "E256" }

    private var isIssuedByApple: Bool {
        text("iss").hasPrefix("https://appleid.apple.com")
            || text("iss").hasPrefix("https://account.apple.com")
    }

    private var isForApple: Bool {
        let audiences = claims["aud"]?.elements?.compactMap(\.string) ?? [text("aud")]
        return audiences.contains {
            $0.hasPrefix("https://appleid.apple.com") || $0.hasPrefix("https://account.apple.com")
        }
    }

    private var ofAnotherInterface: String? {
        for (prefix, name) in Self.otherClients where text("sub").hasPrefix(prefix) { return name }
        // The tokens below have no `sub`. A client_secret without `sub` still has Apple as its
        // audience.
        guard !isForApple, header["id"] != nil || claims["sub"] == nil else { return nil }
        if text("aud") == "appstoreconnect-v1" {
            return claims["bid"] == nil
                ? "an App Store Connect API token" : "an App Store Server API token"
        }
        guard isES256, claims["aud"] == nil, claims["iss"] != nil else { return nil }
        if header["id"] != nil { return "a WeatherKit token" }
        if claims["origin"] != nil { return "a MapKit token" }
        return claims["exp"] == nil ? "an APNs provider token" : "a MusicKit or DeviceCheck token"
    }

    private static let otherClients = [
        ("SEARCHADS.", "an Apple Ads client_secret"),
        ("BUSINESSAPI.", "an Apple Business Manager client assertion"),
        ("SCHOOLAPI.", "an Apple School Manager client assertion"),
    ]
}
