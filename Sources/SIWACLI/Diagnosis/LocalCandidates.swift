internal import Diagnosis
internal import Lifecycle
internal import LocalFiles
internal import SIWACrypto

/// Other keys and profiles on this machine that the user may have meant.
struct LocalCandidates: Sendable {
    /// The key files in the usual folders, including the one in use.
    let keyFiles: [KeyFile]
    /// The configuration's profiles, without the one in use.
    let otherProfiles: [KnownProfile]

    init(_ settings: Settings, in world: World) {
        otherProfiles = settings.otherProfiles
        let inUse = (try? settings.keySource(in: world))?.value.path
        let folders =
            [inUse.map(folder(of:))].compactMap(\.self) + settings.keyFolders(world.variables)
        let named = folders.unique.flatMap { folder in
            world.files.names(folder).map { "\(folder)/\($0)" }
                .filter { KeySource.file($0).keyIDInName != nil }
        }
        keyFiles = ([inUse].compactMap(\.self) + named + otherProfiles.compactMap(\.keyPath)).unique
            .prefix(Self.limit).compactMap { KeyFile($0, in: world) }
    }

    /// The most files that are examined: a folder may contain anything.
    private static let limit = 32
}

/// A file that holds a usable private key.
struct KeyFile: Sendable {
    let path: String
    /// The Key ID in the file's name.
    let keyID: KeyID?
    let privateKey: P256PrivateKey

    /// Nil if no key can be read from the file.
    init?(_ path: String, in world: World) {
        guard let file = try? world.files.readRegular(path),
            let key = try? PrivateKeyText(file.contents).privateKey()
        else { return nil }
        self.path = path
        keyID = KeySource.file(path).keyIDInName
        privateKey = key
    }

    var known: KnownKey { KnownKey(path, privateKey.publicKey) }
}

/// The settings of a profile, unchecked.
struct KnownProfile: Sendable {
    let name: String
    let teamID: TeamID?
    let clientID: ClientID?
    /// The Key ID that is set, or that in the key file's name.
    let keyID: KeyID?
    let keyPath: String?
    /// Whether it is for sign-ins on the web.
    let hasRedirectURI: Bool
}

extension Settings {
    /// The clients of the other profiles.
    var otherClients: [KnownClient] {
        otherProfiles.compactMap { profile in
            profile.clientID.map { KnownClient("--profile \(profile.name)", $0) }
        }
    }

    fileprivate var otherProfiles: [KnownProfile] {
        guard let file else { return [] }
        return file.profileNames.filter { $0 != profileName?.value }.compactMap { name in
            guard let profile = file.profiles[name] else { return nil }
            let path = profile.text(.privateKey).map { resolve($0, against: folder(of: file.path)) }
            return KnownProfile(
                name: name, teamID: profile.text(.teamID).map { TeamID(unchecked: $0) },
                clientID: profile.text(.clientID).map { ClientID(unchecked: $0) },
                keyID: profile.text(.keyID).map { KeyID(unchecked: $0) }
                    ?? path.flatMap { KeySource.file($0).keyIDInName }, keyPath: path,
                hasRedirectURI: profile.text(.redirectURI) != nil)
        }
    }
}
