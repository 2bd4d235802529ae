public import SIWACrypto

/// The `.p8` private key and the Key ID Apple knows it by.
public struct SigningKey: Sendable {
    /// The key.
    public let privateKey: P256PrivateKey
    /// The Key ID.
    public let id: KeyID
    /// What had to be undone to read the key.
    public let repairs: [PrivateKeyText.Repair]

    /// Pairs a key with its Key ID.
    public init(_ privateKey: P256PrivateKey, id: KeyID) {
        self.privateKey = privateKey
        self.id = id
        repairs = []
    }

    /// Reads a key in any shape ``PrivateKeyText`` knows.
    ///
    /// - Throws: ``PrivateKeyError``, which says what the text is instead.
    public init(_ text: SecretBytes, id: KeyID) throws(PrivateKeyError) {
        let found = try PrivateKeyText(text)
        do {
            privateKey = try P256PrivateKey(derRepresentation: found.der)
        } catch {
            throw PrivateKeyError(error)
        }
        self.id = id
        repairs = found.repairs
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
