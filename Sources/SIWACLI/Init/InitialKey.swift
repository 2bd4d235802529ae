internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// The private key of a new configuration, and the file that it is copied to.
struct InitialKey: Sendable {
    /// Nil if a signer has the key.
    let text: SecretBytes?
    /// The place from which it was read.
    let source: PrivateKeySource
    let keyID: KeyID
    /// `AuthKey_<Key ID>.p8` in the configuration's folder, or the signer in words.
    let target: String
    /// The value of the setting.
    let setting: JSON

    /// - Parameter isAbsolute: whether the setting is the whole path: a service reads a copy of the
    ///   configuration in another folder.
    init(
        _ text: SecretBytes, from source: PrivateKeySource, id: KeyID, folder: String,
        isAbsolute: Bool
    ) {
        (self.text, self.source, keyID) = (text, source, id)
        let name = "AuthKey_\(id).p8"
        target = "\(folder)/\(name)"
        setting = .string(isAbsolute ? target : name)
    }

    /// A key that a signer has.
    init(_ signer: SignerSetting, publicKey: P256PublicKey, id: KeyID) {
        (text, source, keyID) = (nil, .signer(signer), id)
        (target, setting) = (signer.place.description, signer.json(pinning: publicKey))
    }

    /// Copies the key, unless it is there already.
    ///
    /// - Returns: whether it was copied.
    /// - Throws: ``SettingsError`` if another key is there.
    func write(in world: World) throws -> Bool {
        guard let text else { return false }
        do throws(FileError) {
            try world.files.create(text, target)
            return true
        } catch {
            guard error.isTaken else { throw error }
            guard try world.files.read(target).contents.revealed() == text.revealed() else {
                throw SettingsError(
                    .key, "there is another key already: \(target)",
                    hints: ["move it away, or give the right Key ID with --key-id"])
            }
            return false
        }
    }
}
