internal import SIWAApplication
import SIWALifecycle
internal import SIWAServerRecords

/// The validated input of `POST /v1/exchange`.
struct ExchangeInput: Sendable {
    /// The authorization code to exchange.
    let code: AuthorizationCode
    /// The client whose profile exchanges it.
    let client: ProfileClient
    /// Whether the caller named the client.
    let isClientGiven: Bool
    /// The redirect URI of the caller; nil uses that of the profile.
    let redirectURI: String?
    /// The nonce that the identity token must have.
    let nonce: SecretText?
    /// The verifier of a code challenge (PKCE, RFC 7636).
    let verifier: CodeVerifier?
    /// Whether to store the refresh token in the vault.
    let isStoring: Bool
    /// Whether the code is exchanged in order to revoke its token.
    private let isForRevocation: Bool

    /// Creates the input.
    init(
        _ code: AuthorizationCode, for client: ProfileClient, isClientGiven: Bool,
        redirectURI: String? = nil, nonce: SecretText? = nil, verifier: CodeVerifier? = nil,
        isStoring: Bool = true, isForRevocation: Bool = false
    ) {
        (self.code, self.client, self.isClientGiven) = (code, client, isClientGiven)
        (self.redirectURI, self.nonce, self.verifier) = (redirectURI, nonce, verifier)
        (self.isStoring, self.isForRevocation) = (isStoring, isForRevocation)
    }

    var sentRedirectURI: String? { redirectURI ?? client.redirectURI }

    /// The part that the journal compares.
    var request: CodeRequest {
        get throws(StoreError) {
            try CodeRequest(
                code, clientID: client.clientID, isClientGiven: isClientGiven, verifier: verifier,
                redirectURI: redirectURI, nonce: nonce?.revealed(), isStoring: isStoring,
                requiresSameParameters: !isForRevocation)
        }
    }

    /// Explains a failure of the request to an operator.
    func diagnosis(of failure: TokenFailure) -> Diagnosis {
        client.diagnosis(
            of: failure, hasRedirectURI: sentRedirectURI != nil,
            hasCodeVerifier: verifier != nil)
    }
}
