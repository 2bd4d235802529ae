internal import JOSE
internal import SIWACrypto
internal import Synchronization

/// The client_secrets of requests: obtained from their source once for each client, and again
/// before they expire.
final class ClientSecretCache: Sendable {
    private let source: any ClientSecretSource
    private let current = Mutex<[String: Credentials]>([:])

    private struct Credentials {
        let secret: ClientSecret
        let parameters: ClientParameters
    }

    init(_ source: any ClientSecretSource) { self.source = source }

    /// The client of a request; the source's client if it names none.
    func clientID(_ own: ClientID?) -> ClientID { own ?? source.clientID }

    /// The parameters of a client, whose secret will not expire before the request arrives.
    func parameters(
        of own: ClientID?, at now: NumericDate
    ) throws(ClientSecretError) -> ClientParameters {
        let clientID = clientID(own)
        return try current.withLock { current throws(ClientSecretError) in
            if let known = current[clientID.rawValue],
                known.secret.isValid(at: now, for: source.renewalMargin)
            {
                return known.parameters
            }
            let secret = try source.secret(for: clientID, at: now)
            let parameters = ClientParameters(clientID, secret.text)
            current[clientID.rawValue] = Credentials(secret: secret, parameters: parameters)
            return parameters
        }
    }

    /// The form of a request.
    func form(
        of request: TokenRequest, for own: ClientID? = nil, at now: NumericDate
    ) throws(ClientSecretError) -> Form {
        request.form(of: try parameters(of: own, at: now))
    }
}
