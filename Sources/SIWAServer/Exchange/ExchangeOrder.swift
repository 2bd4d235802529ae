package import Lifecycle
package import SIWACLI
internal import ServerRecords

/// A request to exchange a code, checked.
package struct ExchangeOrder: Sendable {
    /// The code.
    package let code: AuthorizationCode
    /// The client whose profile exchanges it.
    package let client: ProfileClient
    /// Whether the caller named the client.
    package let isClientGiven: Bool
    /// As the caller gave it; the profile's may be sent in its place.
    package let redirectURI: String?
    /// The nonce that the identity token must have.
    package let nonce: SecretText?
    /// The other half of a code challenge.
    package let verifier: CodeVerifier?
    /// Whether the refresh token is put into the vault.
    package let isStoring: Bool

    /// Describes a request.
    package init(
        _ code: AuthorizationCode, for client: ProfileClient, isClientGiven: Bool,
        redirectURI: String? = nil, nonce: SecretText? = nil, verifier: CodeVerifier? = nil,
        isStoring: Bool = true
    ) {
        (self.code, self.client, self.isClientGiven) = (code, client, isClientGiven)
        (self.redirectURI, self.nonce, self.verifier) = (redirectURI, nonce, verifier)
        self.isStoring = isStoring
    }

    /// The redirect URI that is sent.
    var sentRedirectURI: String? { redirectURI ?? client.redirectURI }

    /// What the journal compares.
    var request: CodeRequest {
        get throws(VaultError) {
            try CodeRequest(
                code, clientID: client.clientID, isClientGiven: isClientGiven, verifier: verifier,
                redirectURI: redirectURI, nonce: nonce?.revealed())
        }
    }

    /// What a failure of the request means to an operator.
    func diagnosis(of failure: TokenFailure) -> Diagnosis {
        client.diagnosis(
            of: failure, hasRedirectURI: sentRedirectURI != nil,
            hasCodeVerifier: verifier != nil)
    }
}
