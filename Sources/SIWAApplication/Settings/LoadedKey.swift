package import SIWACrypto
package import SIWALifecycle
internal import SIWASystem

/// The private key, with notes about reading it.
package struct LoadedKey: Sendable {
    /// Its public half.
    package let publicKey: P256PublicKey
    /// Signs with it.
    package let signer: any ClientSecretSigner
    package let source: Setting<PrivateKeySource>
    /// The repairs that were needed to read it.
    package let repairs: [PrivateKeyText.Repair]
    /// A warning if other users may read or write it.
    package let fileWarning: FileWarning?
    /// The name of the key's file, where a link leads; nil if the key is not in a file, or the path
    /// is not a link.
    let linkedName: String?

    /// The Key ID in the name of its file, or of the file that a link leads to.
    package var keyIDInName: KeyID? {
        source.value.keyIDInName ?? linkedName.flatMap { PrivateKeySource.file($0).keyIDInName }
    }

    /// Its place and origin, for messages.
    package var place: String {
        "\(source.value.description) (\(linkedName.map { "\($0), " } ?? "")\(source.origin))"
    }

    /// Warnings for the user.
    package var warnings: [String] {
        let place = source.value.description
        return
            (fileWarning.map { [$0.text] } ?? [])
            + (repairs.isEmpty ? [] : ["the private key in \(place) had to be repaired: \(undone)"])
    }

    /// Whether the key is somewhere else, and signs there.
    package var isElsewhere: Bool { !signer.isAtOnce }

    /// Fails if the signer must not or cannot be used. It is not asked.
    package func check() throws(SettingsError) {
        do throws(SignerFailure) {
            try signer.check()
        } catch {
            throw SettingsError(
                .unusableSigner, error.reason,
                hints: ["fix it, or private_key where it is set: \(source.origin)"])
        }
    }

    /// The key under its Key ID.
    package func signing(as id: KeyID) -> SigningKey {
        SigningKey(id: id, publicKey: publicKey, signer: signer)
    }

    package var undone: String { repairs.map(\.rawValue).joined(separator: ", ") }
}

extension Settings {
    /// Reads the private key.
    package func loadKey(in world: World) throws(SettingsError) -> LoadedKey {
        if let place = try clientSecretPlace(in: world) {
            throw SettingsError(
                .key, "the private key is needed, and a client_secret is set (\(place.origin))",
                hints: ["run it where the key is, or give the key with --key"])
        }
        guard let source = try keySource(in: world) else { throw noKey(world.variables) }
        try requireOpenSSL()
        if case .signer(let signer) = source.value {
            return try signerKey(signer, source, in: world)
        }
        let (text, fileWarning) = try keyText(source, in: world)
        let (privateKey, repairs) = try privateKey(text, source.value)
        let key = SigningKey(privateKey, id: KeyID(unchecked: ""))
        return LoadedKey(
            publicKey: key.publicKey, signer: key.signer, source: source, repairs: repairs,
            fileWarning: fileWarning,
            linkedName: source.value.path.flatMap { nameOfLinked($0, in: world) })
    }

    /// Finds the key in a text.
    package func privateKey(
        _ text: SecretBytes, _ source: PrivateKeySource
    ) throws(SettingsError) -> (P256PrivateKey, [PrivateKeyText.Repair]) {
        do {
            let found = try PrivateKeyText(text)
            return (try found.privateKey(), found.repairs)
        } catch {
            throw SettingsError(
                .key, "the private key in \(source.description) \(error)",
                hints: Self.pathInPlaceOfText(source, text)
                    + [
                        """
                        restore the .p8 as Apple gave it, a P-256 key in PKCS#8 PEM; Apple offers the \
                        download once: if it is lost, create a new key in Apple's developer portal
                        """
                    ])
        }
    }

    /// The Key ID that is set, or the one in the file's name.
    package func keyID(of source: PrivateKeySource?) throws(SettingsError) -> KeyID {
        guard text(.keyID) == nil else { return try identifier(.keyID) }
        guard let named = source?.keyIDInName else {
            throw missing(
                .keyID,
                or: text(.clientSecret).map {
                    "or remove the private key, which comes before client_secret_file (\($0.origin))"
                })
        }
        return named
    }

    /// Reads the text of the key, with a warning if others may read it.
    package func keyText(
        _ source: Setting<PrivateKeySource>, in world: World
    ) throws(SettingsError) -> (SecretBytes, FileWarning?) {
        switch source.value {
        case .file(let path):
            let file = try readKeyFile(path, source.origin, in: world)
            let warning = FileWarning(
                "the private key", path, file.status, isSecret: true, in: world)
            if let warning, isStrict.value { throw warning.refused(.key) }
            return (file.contents, warning)
        case .standardInput:
            let text = try Self.reading { () throws(FileError) in try world.files.readAll() }
            return (text, nil)
        case .variable(let name):
            guard let value = nonEmpty(world.variables(name)) else {
                throw variableNotSet(name, neededBy: "--key")
            }
            return (SecretBytes(value.utf8), nil)
        case .signer:
            throw SettingsError(
                .key, "the private key is with a signer",
                hints: ["give the file of the key with --key"])
        }
    }

    private static func pathInPlaceOfText(_ source: PrivateKeySource, _ text: SecretBytes)
        -> [String]
    {
        guard case .variable = source, SecretText(text).hasPrefix("/") else { return [] }
        return ["set a path with SIWA_PRIVATE_KEY_FILE or --key"]
    }

    private func noKey(_ variables: (String) -> String?) -> SettingsError {
        if let variable = nonEmpty(variables("SIWA_PRIVATE_KEY_FILE")) {
            let name = text(.keyID).map { "AuthKey_\($0.value).p8" } ?? "AuthKey_KEYID.p8"
            return SettingsError(
                .key, "there is no private key: the credential \(variable) has none",
                hints: [
                    "if /etc/siwa/apple.p8 is missing: ln -sf \(name) /etc/siwa/apple.p8, then "
                        + "restart the unit",
                    "or set client_secret_file or a signer in the profile, which need no key here",
                ])
        }
        let keyID = text(.keyID)?.value
        let looked = keyFolders(variables).joined(separator: ", ")
        return SettingsError(
            .key, "there is no private key",
            hints: ["set it with \(SettingName.privateKey.places)"]
                + (keyID.map { ["no AuthKey_\($0).p8 was found in \(looked)"] } ?? []))
    }

    private func readKeyFile(
        _ path: String, _ origin: Origin, in world: World
    ) throws(SettingsError) -> LocalFile {
        do {
            return try world.files.read(path)
        } catch {
            // The service sees the copy that its unit makes, and not the folder of the original.
            if case .profile = origin, nonEmpty(world.variables("SIWA_PRIVATE_KEY_FILE")) != nil {
                throw noKey(world.variables)
            }
            throw SettingsError(
                .key, "the private key cannot be read: \(error)",
                hints: error.advice(
                    or: (error.isMissing ? "put the .p8 there, or fix" : "fix")
                        + " the path where it is set: \(origin)"))
        }
    }

    private static func reading(
        _ read: () throws(FileError) -> SecretBytes
    ) throws(SettingsError) -> SecretBytes {
        do {
            return try read()
        } catch {
            throw SettingsError(
                .key, "the private key cannot be read: \(error)",
                hints: error.advice(or: "give the key to standard input, or give a file with --key")
            )
        }
    }
}

/// The name of the file that a link leads to; nil for a path that is not a link.
func nameOfLinked(_ path: String, in world: World) -> String? {
    let names = [path, world.files.resolvedPath(path)].map { $0.split(separator: "/").last }
    return names[0] == names[1] ? nil : names[1].map(String.init)
}

/// Loads OpenSSL before a key is read, so that a missing library is not reported as a bad key.
package func requireOpenSSL() throws(SettingsError) {
    do {
        try OpenSSL.load()
    } catch {
        throw SettingsError(
            .unavailable, error.description, hints: ["install OpenSSL 3: apt-get install libssl3"])
    }
}
