internal import SIWACrypto
internal import SIWALifecycle

/// A second place on this machine that is to have the key in use. The service of the shipped units
/// takes the key from its credential, and `siwa` from the settings of the profile; if they differ,
/// one of them works and the other is refused.
package struct KeyPlace: Sendable {
    let path: String
    /// What names the path.
    let origin: String
    /// The Key ID in the name of the file, or of the file that a link leads to.
    let keyID: KeyID?
    /// Nil if no key can be read from the file.
    let publicKey: P256PublicKey?

    /// Nil for a key that was chosen for one command with a flag, and if there is no second place.
    init?(besides source: Setting<PrivateKeySource>?, _ settings: Settings, in world: World) {
        guard let source, let place = Self.place(besides: source, settings, in: world),
            world.files.resolvedPath(place.path)
                != source.value.path.map(world.files.resolvedPath)
        else { return nil }
        (path, origin) = place
        let name = nameOfLinked(path, in: world) ?? path
        keyID = PrivateKeySource.file(name).keyIDInName
        publicKey = KeyFile(path, in: world)?.privateKey.publicKey
    }

    private static func place(
        besides source: Setting<PrivateKeySource>, _ settings: Settings, in world: World
    ) -> (path: String, origin: String)? {
        switch source.origin {
        case .flag: return nil
        case .variable: return settings.profileKey.map { ($0.value, "\($0.origin)") }
        default:
            guard let file = settings.file else { return nil }
            let path = "\(folder(of: file.path))/\(credentialName)"
            return world.files.exists(path) ? (path, "the credential of the units") : nil
        }
    }

    /// The name of the key beside the configuration in `LoadCredential=` of the shipped units.
    private static let credentialName = "apple.p8"
}
