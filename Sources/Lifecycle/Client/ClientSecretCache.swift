internal import JOSE
internal import SIWACrypto
internal import Synchronization

/// The client_secrets of requests: obtained from their source once for each client, and again
/// before they expire.
final class ClientSecretCache: Sendable {
    private let source: any ClientSecretSource
    private let renewalMargin: Duration
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

    init(_ source: any ClientSecretSource) {
        (self.source, renewalMargin) = (source, source.renewalMargin)
    }

    /// The client of a request; the source's client if it names none.
    func clientID(_ own: ClientID?) -> ClientID { own ?? source.clientID }

    /// The parameters of a client, whose secret will not expire before the request arrives.
    func parameters(
        of own: ClientID?, at now: NumericDate
    ) throws(ClientSecretError) -> ClientParameters {
        let clientID = clientID(own)
        return try current.withLock { current throws(ClientSecretError) in
            if let known = current[clientID.rawValue],
                known.secret.isValid(at: now, for: renewalMargin)
            {
                return known.parameters
            }
            let new = Credentials(try source.secret(for: clientID, at: now), for: clientID)
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
