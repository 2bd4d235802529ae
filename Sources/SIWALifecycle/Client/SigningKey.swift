package import SIWACrypto

/// The key that signs client secrets, and its Key ID. Key ID, public key and signer belong together.
package struct SigningKey: Sendable {
    /// The Key ID.
    package let id: KeyID
    /// The public half, which verifies every signature before it is used.
    package let publicKey: P256PublicKey
    /// Signs with the private half.
    package let signer: any ClientSecretSigner
    /// Hears how a signer does that has to be awaited.
    package var watch: (@Sendable (SignerEvent) -> Void)?

    /// Pairs a private key with its Key ID.
    package init(_ privateKey: P256PrivateKey, id: KeyID) {
        self.init(
            id: id, publicKey: privateKey.publicKey, signer: PrivateKeySigner(privateKey))
    }

    package init(id: KeyID, publicKey: P256PublicKey, signer: any ClientSecretSigner) {
        (self.id, self.publicKey, self.signer) = (id, publicKey, signer)
    }

    /// The same key under another Key ID.
    package func named(_ id: KeyID) -> Self {
        var key = Self(id: id, publicKey: publicKey, signer: signer)
        key.watch = watch
        return key
    }
}

extension PrivateKeyText {
    /// The key itself.
    ///
    /// - Throws: ``PrivateKeyError``, which names what the DER contains instead.
    package func privateKey() throws(PrivateKeyError) -> P256PrivateKey {
        do {
            return try P256PrivateKey(derRepresentation: der)
        } catch {
            if case .unreadable = error, let foreign = der.withSpan(ForeignDER.name) {
                throw foreign
            }
            throw PrivateKeyError(error)
        }
    }
}

extension PrivateKeyError {
    init(_ error: P256KeyError) {
        switch error {
        case .unreadable: self = .damaged("no key can be read from it")
        case .algorithm("RSA"), .algorithm("RSA-PSS"): self = .wrongKind("an RSA key")
        case .algorithm(let name): self = .wrongKind("a key of the kind \(name)")
        case .curve(let name): self = .wrongKind("a key on the curve \(name)")
        case .inconsistent: self = .inconsistent
        }
    }
}
