package import SIWACrypto
package import SIWALifecycle

/// A secret that is encrypted with a key of the vault and kept outside its records, such as a
/// token that waits for its revocation.
package struct SealedSecret: Hashable, Sendable {
    /// The number of the key.
    package let keyNumber: Int
    /// The encrypted secret.
    package let bytes: [UInt8]

    /// Describes an encrypted secret.
    package init(keyNumber: Int, bytes: [UInt8]) {
        (self.keyNumber, self.bytes) = (keyNumber, bytes)
    }
}

extension Vault {
    /// Encrypts a secret with the current key.
    ///
    /// - Parameter place: the place where it is stored; it can be decrypted only for the same
    ///   place.
    package func seal(
        _ secret: SecretBytes, for place: [String]
    ) throws(StoreError) -> SealedSecret {
        SealedSecret(
            keyNumber: currentKey, bytes: try keys.seal(secret, for: place, key: currentKey))
    }

    /// Decrypts a secret.
    ///
    /// - Throws: ``StoreError`` of kind `key` if its key is missing, of kind `sealBroken` if it was
    ///   changed or belongs elsewhere.
    package func open(_ sealed: SealedSecret, for place: [String]) throws(StoreError) -> SecretBytes
    {
        try keys.open(sealed, for: place)
    }
}
