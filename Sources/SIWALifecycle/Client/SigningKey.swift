package import SIWACrypto

/// The private key of a `.p8` file, and its Key ID.
package struct SigningKey: Sendable {
    /// The private key on P-256, which signs client secrets.
    package let privateKey: P256PrivateKey
    /// The Key ID.
    package let id: KeyID

    /// Pairs a key with its Key ID.
    package init(_ privateKey: P256PrivateKey, id: KeyID) {
        self.privateKey = privateKey
        self.id = id
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
