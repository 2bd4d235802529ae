internal import Diagnosis
internal import Lifecycle
internal import LocalFiles
internal import SIWACrypto

/// What else on this machine could be meant: other keys, other profiles.
struct LocalCandidates: Sendable {
    /// Every key file where keys are kept, the one in use included.
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

    /// A folder may hold anything; a folder of keys does not have more.
    private static let limit = 32
}

/// A file that holds a usable private key.
struct KeyFile: Sendable {
    let path: String
    /// As the file is named.
    let keyID: KeyID?
    let privateKey: P256PrivateKey

    /// Nil when no key can be read from it: then it is not a candidate.
    init?(_ path: String, in world: World) {
        guard let file = try? world.files.read(path),
            let key = try? PrivateKeyText(file.contents).privateKey()
        else { return nil }
        self.path = path
        keyID = KeySource.file(path).keyIDInName
        privateKey = key
    }

    var known: KnownKey { KnownKey(path, privateKey.publicKey) }
}

/// What a profile says, unchecked.
struct KnownProfile: Sendable {
    let name: String
    let teamID: TeamID?
    let clientID: ClientID?
    /// As set, or as the key file is named.
    let keyID: KeyID?
    let keyPath: String?
    /// Whether it is for sign-ins through the web.
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
