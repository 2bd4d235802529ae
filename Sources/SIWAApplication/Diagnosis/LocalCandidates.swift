package import SIWACrypto
package import SIWADiagnosis
package import SIWALifecycle
internal import SIWASystem

/// Other keys and profiles on this machine that the user may have meant.
package struct LocalCandidates: Sendable {
    /// The key files in the usual folders, including the one in use.
    package let keyFiles: [KeyFile]
    /// The configuration's profiles, without the one in use.
    package let otherProfiles: [KnownProfile]
    /// The Key IDs of the other profiles whose key is that of the variable: they have no credential of
    /// their own.
    let sharingKeyIDs: [KeyID]
    /// The other place that is to have the key in use; nil if there is none.
    let otherPlace: KeyPlace?

    package init(_ settings: Settings, in world: World) {
        otherProfiles = settings.otherProfiles
        // siwa-admin gives the copy of the link's key the name of the file that the link leads to.
        let shared = world.privateKeyFile.map(world.files.resolvedPath)
        sharingKeyIDs = otherProfiles.compactMap(\.keyID).filter { keyID in
            world.credential(ofKey: keyID.rawValue).map(world.files.resolvedPath) ?? shared
                == shared
        }
        otherPlace = KeyPlace(besides: try? settings.keySource(in: world), settings, in: world)
        let inUse = (try? settings.keySource(in: world))?.value.path
        let folders =
            [inUse.map(folder(of:))].compactMap(\.self) + settings.keyFolders(world.variables)
        let named = folders.unique.flatMap { folder in
            world.files.names(folder).map { "\(folder)/\($0)" }
                .filter { PrivateKeySource.file($0).keyIDInName != nil }
        }
        keyFiles = ([inUse].compactMap(\.self) + named + otherProfiles.compactMap(\.keyPath)).unique
            .prefix(Self.limit).compactMap { KeyFile($0, in: world) }
    }

    /// The key files besides the one at a path, each once: a link is the file that it leads to.
    package func keyFiles(besides path: String?) -> [KeyFile] {
        var places = Set(keyFiles.filter { $0.path == path }.map(\.place))
        return keyFiles.filter { places.insert($0.place).inserted }
    }

    /// The most files that are examined: a folder may contain anything.
    private static let limit = 32
}

/// A file that holds a usable private key.
package struct KeyFile: Sendable {
    package let path: String
    /// The path of the file itself, without links.
    fileprivate let place: String
    /// The Key ID in the file's name.
    package let keyID: KeyID?
    package let privateKey: P256PrivateKey

    /// Nil if no key can be read from the file.
    init?(_ path: String, in world: World) {
        guard let file = try? world.files.readRegular(path),
            let key = try? PrivateKeyText(file.contents).privateKey()
        else { return nil }
        self.path = path
        place = world.files.resolvedPath(path)
        keyID = PrivateKeySource.file(path).keyIDInName
        privateKey = key
    }

    package var known: KnownKey { KnownKey(path, privateKey.publicKey) }
}

/// The settings of a profile, unchecked.
package struct KnownProfile: Sendable {
    package let name: String
    package let teamID: TeamID?
    package let clientID: ClientID?
    /// The Key ID that is set, or that in the key file's name.
    package let keyID: KeyID?
    package let keyPath: String?
    /// Whether it is for sign-ins on the web.
    package let hasRedirectURI: Bool
}

extension Settings {
    /// The clients of the other profiles.
    package var otherClients: [KnownClient] {
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
                    ?? path.flatMap { PrivateKeySource.file($0).keyIDInName }, keyPath: path,
                hasRedirectURI: profile.text(.redirectURI) != nil)
        }
    }
}
