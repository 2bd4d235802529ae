package import SIWAJOSE

/// Apple's answer to an exchange or a refresh (RFC 6749 §5.1).
package struct TokenResponse: Sendable {
    /// The access token, valid for ``expiresIn`` seconds.
    package let accessToken: AccessToken
    /// The refresh token of an exchange; nil after a refresh, which does not change it.
    package let refreshToken: RefreshToken?
    /// The lifetime of the access token in seconds; the identity token has its own.
    package let expiresIn: Int?
    /// A JWT signed by Apple that identifies the user.
    package let identityToken: SecretText?
    /// The answer as received, including unknown members.
    package let members: [JSON.Member]
    /// Apple's id of the request, which its support asks for; nil if Apple sent none.
    package let requestID: String?
    /// Apple's time when it answered; nil if the answer does not say.
    package let date: NumericDate?

    /// Reads a 200 response.
    ///
    /// Nil if its body is not a JSON object with an `access_token`.
    package init?(_ response: HTTPResponse) {
        self.init(response.body, requestID: response.requestID, date: response.appleDate)
    }

    /// Reads the body of a 200 response.
    ///
    /// Nil if it is not a JSON object with an `access_token`.
    package init?(_ body: [UInt8], requestID: String? = nil, date: NumericDate? = nil) {
        guard let json = try? JSON(body), let members = json.members,
            let accessToken = json["access_token"]?.string
        else { return nil }
        self.members = members
        (self.requestID, self.date) = (requestID, date)
        self.accessToken = AccessToken(SecretText(accessToken))
        refreshToken = json["refresh_token"]?.string.map { RefreshToken(SecretText($0)) }
        expiresIn = json["expires_in"]?.integer
        identityToken = json["id_token"]?.string.map { SecretText($0) }
    }
}

extension TokenResponse: CustomReflectable {
    /// Keeps `dump` and `print` from showing the tokens in ``members``.
    package var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "accessToken": accessToken, "refreshToken": refreshToken as Any,
                "expiresIn": expiresIn as Any, "identityToken": identityToken as Any,
            ], displayStyle: .struct)
    }
}

extension TokenResponse {
    /// The members Apple is known to send, in its order.
    package static let memberNames = [
        "access_token", "token_type", "expires_in", "refresh_token", "id_token",
    ]

    /// The members that siwa adds to Apple's.
    package static let addedMemberNames = ["expires_at", "apple_request_id"]

    /// The response as received, the expiry of the access token, and Apple's id of the request.
    ///
    /// - Parameter reserved: other members that siwa adds; Apple's members with these names are
    ///   dropped.
    package func members(
        at now: NumericDate, reserving reserved: [String] = []
    ) -> [JSON.Member] {
        let expiry = expiresIn.map {
            JSON.Member("expires_at", .string((now + .seconds($0)).rfc3339))
        }
        let requestID = requestID.map { JSON.Member("apple_request_id", .string($0)) }
        let own = Self.addedMemberNames + reserved
        return members.filter { !own.contains($0.name) }
            + [expiry, requestID].compactMap(\.self)
    }
}
