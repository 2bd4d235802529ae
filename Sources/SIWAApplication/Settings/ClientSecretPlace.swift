package import SIWACommandTable
internal import SIWACrypto
internal import SIWADiagnosis
package import SIWALifecycle
internal import SIWASystem

/// The place of a client_secret that another machine minted.
package enum ClientSecretPlace: Sendable {
    case argument(SecretArgument)
    case variable(String)
    case file(String)

    /// The name in messages; contains no part of the secret.
    package var description: String {
        switch self {
        case .argument(.file(let path)), .file(let path): path
        case .argument(.standardInput): "standard input"
        case .argument(.environment(let name)), .variable(let name): "the variable \(name)"
        case .argument(.literal): "the command line"
        }
    }

    /// The file to read again when the secret has expired.
    var path: String? {
        switch self {
        case .argument(.file(let path)), .file(let path): path
        default: nil
        }
    }
}

extension Settings {
    /// The place of the client_secret in use, without reading it; nil if a key is in use.
    ///
    /// Key and client_secret are one setting: the source with higher precedence is used.
    package func clientSecretPlace(
        in world: World
    ) throws(SettingsError) -> Setting<ClientSecretPlace>? {
        if let argument = selection.clientSecret {
            guard selection.key == nil, selection.signer == nil else {
                let other = selection.key == nil ? "--signer" : "--key"
                throw SettingsError(
                    .usage, "--client-secret and \(other) exclude each other",
                    hints: ["omit \(other): a client_secret needs no key"])
            }
            return Setting(value: .argument(argument), origin: .flag("--client-secret"))
        }
        guard selection.key == nil, selection.signer == nil else { return nil }
        let keyVariable =
            world.privateKeyFile != nil
            ? "SIWA_PRIVATE_KEY_FILE"
            : nonEmpty(world.variables("SIWA_PRIVATE_KEY")).map { _ in "SIWA_PRIVATE_KEY" }
        if let name = SettingName.clientSecret.variable, nonEmpty(world.variables(name)) != nil {
            if let keyVariable {
                throw SettingsError(
                    .usage, "both \(name) and \(keyVariable) are set",
                    hints: ["unset \(keyVariable) to use the client_secret, or \(name)"])
            }
            return Setting(value: .variable(name), origin: .variable(name))
        }
        guard keyVariable == nil,
            let file = fromProfile({ $0.text(.clientSecret) })
        else { return nil }
        guard fromProfile({ $0.text(.privateKey) }) == nil, fromProfile({ $0.signer }) == nil
        else {
            throw SettingsError(
                "the profile has both client_secret_file and private_key (\(file.origin))",
                hints: ["remove one of them"])
        }
        return Setting(
            value: .file(resolve(file.value, from: file.origin)), origin: file.origin)
    }
}

extension Session {
    /// Reads the client_secret that another machine minted and examines it as `siwa inspect` does.
    ///
    /// - Throws: ``ClientSecretError`` if Apple would refuse it.
    func givenSecret(_ place: Setting<ClientSecretPlace>) throws -> GivenClientSecret {
        let clientID = try clientID()
        let expected = ExpectedClient(
            teamID: settings.text(.teamID).map { TeamID(unchecked: $0.value) },
            keyID: settings.text(.keyID).map { KeyID(unchecked: $0.value) })
        func read() throws -> ClientSecret {
            try ClientSecret(
                given: text(of: place), for: clientID, expecting: expected,
                at: world.clocks.now())
        }
        let secret: ClientSecret
        do {
            secret = try read()
        } catch ClientSecretError.expired(let expiry) {
            // Another process may renew the file, so it is read again.
            guard place.value.path != nil else { throw ClientSecretError.expired(expiry) }
            secret = try read()
        }
        guard let path = place.value.path else { return GivenClientSecret(secret) }
        return GivenClientSecret(secret) { [world] now throws(ClientSecretError) in
            guard let file = try? world.files.read(path) else {
                throw .expired(secret.expiresAt)
            }
            return try ClientSecret(
                given: SecretText(firstLine(file.contents)), for: clientID,
                expecting: expected, at: now)
        }
    }

    /// The unchanged text at a place.
    package func text(of place: Setting<ClientSecretPlace>) throws -> SecretText {
        switch place.value {
        case .argument(let argument):
            if let path = place.value.path { return try text(ofFile: path, place.origin) }
            return try secret(argument, "--client-secret")
        case .variable(let name):
            return SecretText(firstLine(SecretBytes((world.variables(name) ?? "").utf8)))
        case .file(let path): return try text(ofFile: path, place.origin)
        }
    }

    private func text(
        ofFile path: String, _ origin: Origin
    ) throws(SettingsError) -> SecretText {
        let file: LocalFile
        do {
            file = try world.files.read(path)
        } catch {
            throw SettingsError(
                "the client_secret cannot be read: \(error)",
                hints: error.advice(or: "fix the path where it is set: \(origin)"))
        }
        try examine(
            FileWarning(
                "the client_secret", path, file.status, isSecret: true, in: world),
            .configuration)
        return SecretText(firstLine(file.contents))
    }
}
