internal import JOSE
internal import SIWACrypto
internal import Synchronization

/// The client_secrets of requests: obtained from their source once for each client, and again
/// before they expire.
final class ClientSecretCache: Sendable {
    private let source: any ClientSecretSource
    private let current = Mutex<[String: ClientSecret]>([:])

    init(_ source: any ClientSecretSource) { self.source = source }

    /// The client of a request; the source's client if it names none.
    func clientID(_ own: ClientID?) -> ClientID { own ?? source.clientID }

    /// A secret that will not expire before the request arrives.
    func secret(
        for own: ClientID?, at now: NumericDate
    ) throws(ClientSecretError) -> ClientSecret {
        let clientID = clientID(own)
        return try current.withLock { current throws(ClientSecretError) in
            if let secret = current[clientID.rawValue],
                secret.isValid(at: now, for: source.renewalMargin)
            {
                return secret
            }
            let secret = try source.secret(for: clientID, at: now)
            current[clientID.rawValue] = secret
            return secret
        }
    }

    /// The form of a request.
    func form(
        of request: TokenRequest, for own: ClientID? = nil, at now: NumericDate
    ) throws(ClientSecretError) -> Form {
        request.form(
            clientID: clientID(own), clientSecret: try secret(for: own, at: now).text)
    }
}
