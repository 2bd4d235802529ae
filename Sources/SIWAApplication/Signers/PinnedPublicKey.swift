internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

extension Settings {
    /// Reads the public key of a signer: PEM, DER or a JWK.
    func pinnedKey(
        _ key: SignerSetting.PinnedKey, _ origin: Origin, in world: World
    ) throws(SettingsError) -> P256PublicKey {
        let bytes: [UInt8]
        let name: String
        switch key {
        case .jwk(let text): (bytes, name) = (Array(text.utf8), "public_key")
        case .file(let path):
            name = "the public key \(path)"
            do throws(FileError) {
                let file = try world.files.read(path)
                let warning = FileWarning(
                    "the public key", path, file.status, isSecret: false, in: world)
                if let warning, isStrict.value {
                    throw FileError("read", path, reason: warning.message)
                }
                bytes = file.contents.revealed()
            } catch {
                throw SettingsError(
                    .key, "the public key cannot be used: \(error)",
                    hints: error.advice(or: "fix the path where it is set: \(origin)"))
            }
        }
        do throws(PublicKeyError) {
            return try P256PublicKey(anyForm: bytes)
        } catch {
            throw SettingsError(
                .key, "\(name) \(error)",
                hints: ["make it from the key file: siwa public-key --key AuthKey_….p8"])
        }
    }
}
