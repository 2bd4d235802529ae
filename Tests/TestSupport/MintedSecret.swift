package import SIWAJOSE
package import SIWALifecycle

extension Client {
    /// A secret of a client whose key is in this process.
    package func mintedSecret(at now: NumericDate) throws(ClientSecretError) -> ClientSecret {
        guard let secret = try secretAtOnce(for: clientID, at: now) else { throw .pending }
        return secret
    }
}
