internal import SIWAApplication
internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASystem

/// The private key of a new configuration, and the file that it is copied to.
struct InitialKey: Sendable {
    let text: SecretBytes
    /// The place from which it was read.
    let source: PrivateKeySource
    let keyID: KeyID
    /// `AuthKey_<Key ID>.p8` in the configuration's folder.
    let target: String

    /// The name of the file, without its folder.
    var name: String { "AuthKey_\(keyID).p8" }

    init(_ text: SecretBytes, from source: PrivateKeySource, id: KeyID, folder: String) {
        (self.text, self.source, keyID) = (text, source, id)
        target = "\(folder)/AuthKey_\(id).p8"
    }

    /// Copies the key, unless it is there already.
    ///
    /// - Returns: whether it was copied.
    /// - Throws: ``SettingsError`` if another key is there.
    func write(in world: World) throws -> Bool {
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
