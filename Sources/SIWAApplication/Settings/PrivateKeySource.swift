internal import SIWACrypto
internal import SIWAJOSE
package import SIWALifecycle
internal import SIWASystem

/// The place of the private key.
package enum PrivateKeySource: Hashable, Sendable {
    case file(String)
    case standardInput
    case variable(String)
    /// The key is somewhere else, and signs there.
    case signer(SignerSetting)

    package var description: String {
        switch self {
        case .file(let path): path
        case .standardInput: "standard input"
        case .variable(let name): "the variable \(name)"
        case .signer(let signer): signer.place.description
        }
    }

    /// Nil for a key that is not in a file.
    package var path: String? {
        if case .file(let path) = self { path } else { nil }
    }

    /// The Key ID in a name such as `AuthKey_K1L2M3N4P5.p8`; the key itself does not contain it.
    package var keyIDInName: KeyID? {
        guard case .file(let path) = self else { return nil }
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        return try? KeyID(validating: String(name.dropFirst(8).dropLast(3)))
    }
}

extension Settings {
    /// The place of the key in use, without reading it; nil if no key or a client_secret is set.
    package func keySource(in world: World) throws(SettingsError) -> Setting<PrivateKeySource>? {
        guard try clientSecretPlace(in: world) == nil else { return nil }
        if let signer = selection.signer {
            guard selection.key == nil else {
                throw SettingsError(
                    .usage, "--signer and --key exclude each other",
                    hints: ["omit --key: the signer has the key"])
            }
            return Setting(value: .signer(signer), origin: .flag("--signer"))
        }
        if let source = selection.key {
            let origin = Origin.flag("--key")
            if let path = source.path { _ = try Self.file(path, from: origin) }
            return Setting(value: source, origin: origin)
        }
        if let variable = try keyVariable(in: world) { return variable }
        if let key = profileKey {
            let written = fromProfile { $0.text(.privateKey) }?.value ?? ""
            _ = try Self.file(written, from: key.origin)
            return Setting(value: .file(key.value), origin: key.origin)
        }
        if let signer = fromProfile({ $0.signer }), let file {
            let folder = folder(of: file.path)
            return SignerSetting(signer.value) { resolve($0, against: folder) }
                .map { Setting(value: .signer($0), origin: signer.origin) }
        }
        guard let keyID = text(.keyID) else { return nil }
        return keyFolders(world.variables)
            .map { $0 + "/AuthKey_\(keyID.value).p8" }.first(where: world.files.exists)
            .map { Setting(value: .file($0), origin: .search) }
    }

    /// The key and the Key ID in use with their places, for messages about a difference.
    func placesOfKey(_ key: LoadedKey) -> String {
        "\(key.place), key_id from \(text(.keyID)?.origin.description ?? "the file's name")"
    }

    /// The key file that the profile names, whatever the environment says.
    var profileKey: Setting<String>? {
        fromProfile { $0.text(.privateKey) }.map {
            Setting(value: resolve($0.value, from: $0.origin), origin: $0.origin)
        }
    }

    private func keyVariable(
        in world: World
    ) throws(SettingsError) -> Setting<PrivateKeySource>? {
        if let credential = namedCredential(in: world) { return credential }
        let file = world.privateKeyFile
        let text = nonEmpty(world.variables("SIWA_PRIVATE_KEY"))
        switch (file, text) {
        case (nil, nil): return nil
        case (let path?, nil):
            let origin = Origin.variable("SIWA_PRIVATE_KEY_FILE")
            return Setting(value: try Self.file(path, from: origin), origin: origin)
        case (nil, _?):
            return Setting(
                value: .variable("SIWA_PRIVATE_KEY"), origin: .variable("SIWA_PRIVATE_KEY"))
        case (_?, _?):
            throw SettingsError(
                .key, "both SIWA_PRIVATE_KEY_FILE and SIWA_PRIVATE_KEY are set",
                hints: ["unset one of them: they could be two different keys"])
        }
    }

    /// The credential that is named for the Key ID: the shipped units have one key in the variable,
    /// which is for all profiles, and a profile of another team has its own beside it. A path that a
    /// person chose for one command comes first.
    private func namedCredential(in world: World) -> Setting<PrivateKeySource>? {
        guard let keyID = text(.keyID)?.value,
            nonEmpty(world.variables("SIWA_PRIVATE_KEY")) == nil,
            world.privateKeyFile.map(world.isCredential) ?? true,
            let path = world.credential(ofKey: keyID)
        else { return nil }
        return Setting(value: .file(path), origin: .variable("CREDENTIALS_DIRECTORY"))
    }

    /// Refuses a key in place of a path, because messages show paths.
    private static func file(
        _ path: String, from origin: Origin
    ) throws(SettingsError) -> PrivateKeySource {
        // The beginnings of a key in DER in base64, and of a PEM that was encoded again.
        let isBase64 =
            path.utf8.count > 40 && ["MI", "MH", "LS0t"].contains(where: path.hasPrefix)
        guard isBase64 || path.mentions("PRIVATE KEY") || path.contains(where: \.isNewline) else {
            return .file(path)
        }
        throw SettingsError(
            .key, "the path of the private key is the key itself (\(origin))",
            hints: ["give the path of the file; only SIWA_PRIVATE_KEY takes the text of the key"])
    }

    /// The folders in which keys are searched by their Key ID: Apple's own tools use the last four.
    func keyFolders(_ variables: (String) -> String?) -> [String] {
        let home = UserFolders(variables).home
        let usual = ["/.appstoreconnect/private_keys", "/.private_keys", "/private_keys"]
        return (file.map { [folder(of: $0.path)] } ?? [])
            + (nonEmpty(variables("API_PRIVATE_KEYS_DIR")).map { [$0] } ?? [])
            + (home.map { home in usual.map { home + $0 } } ?? [])
    }
}
