internal import SIWACrypto
internal import SIWAJOSE
internal import Synchronization

/// The client_secrets of requests: obtained from their source once for each client, and again
/// before they expire.
package final class ClientSecretCache: Sendable {
    private let source: any ClientSecretSource
    private let renewalMargin: Duration
    private let minted: (@Sendable (ClientSecret) -> Void)?
    private let current = Mutex<[String: Credentials]>([:])

    /// A class, because every request looks them up: copying a structure takes longer.
    private final class Credentials: Sendable {
        let secret: ClientSecret
        let parameters: ClientParameters

        init(_ secret: ClientSecret, for clientID: ClientID) {
            self.secret = secret
            parameters = ClientParameters(clientID, secret.text)
        }
    }

    /// - Parameter minted: called with each new secret.
    package init(
        _ source: any ClientSecretSource,
        minted: (@Sendable (ClientSecret) -> Void)? = nil
    ) {
        (self.source, renewalMargin, self.minted) = (source, source.renewalMargin, minted)
    }

    /// The client of a request; the source's client if it names none.
    func clientID(_ own: ClientID?) -> ClientID { own ?? source.clientID }

    /// See ``ClientSecretSource/prepare(for:until:)``.
    func prepare(for own: ClientID?, until deadline: Deadline) async throws(ClientSecretError) {
        try await source.prepare(for: clientID(own), until: deadline)
    }

    /// The parameters of a client, whose secret will not expire before the request arrives.
    func parameters(
        of own: ClientID?, at now: NumericDate
    ) throws(ClientSecretError) -> ClientParameters {
        let clientID = clientID(own)
        return try current.withLock { current throws(ClientSecretError) in
            let known = current[clientID.rawValue]
            if let known, known.secret.isValid(at: now, for: renewalMargin) {
                return known.parameters
            }
            let secret = try source.secret(for: clientID, at: now)
            // A signer's secret may be the same until it has signed another one.
            if let known, known.secret.expiresAt == secret.expiresAt { return known.parameters }
            let new = Credentials(secret, for: clientID)
            minted?(secret)
            current[clientID.rawValue] = new
            return new.parameters
        }
    }

    /// The form of a request.
    func form(
        of request: TokenRequest, for own: ClientID? = nil, at now: NumericDate
    ) throws(ClientSecretError) -> Form {
        request.form(of: try parameters(of: own, at: now))
    }
}
