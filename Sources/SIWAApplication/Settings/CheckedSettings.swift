package import SIWACrypto
internal import SIWAJOSE
package import SIWALifecycle
internal import SIWASystem

// Settings with their types, or errors that name their origin.
extension Settings {
    /// Refuses malformed values, also of settings that the command does not use.
    func checkValues() throws(SettingsError) {
        _ = try timeout()
        _ = try maxAttempts()
        _ = try secretLifetime()
        _ = try baseURL()
    }

    /// An identifier that the command requires.
    package func identifier<ID: Identifier>(_ name: SettingName) throws(SettingsError) -> ID {
        guard let setting = text(name) else { throw missing(name) }
        do {
            return try ID(validating: setting.value)
        } catch {
            throw SettingsError(
                "\(name.member) '\(error.text)' \(error.fault)", from: setting.origin)
        }
    }

    /// The error for a required setting that is not set.
    package func missing(_ name: SettingName, or alternative: String? = nil) -> SettingsError {
        var hints = ["set it with \(name.places)"] + (alternative.map { [$0] } ?? [])
        if let file, profileName == nil, !file.profileNames.isEmpty {
            hints.insert(
                "choose a profile with --profile: \(file.profileNames.joined(separator: ", "))",
                at: 0)
        } else if file == nil {
            hints.append(
                "there is no configuration file: 'siwa init' writes one; 'siwa config path' lists "
                    + "where siwa looks for it")
        }
        return SettingsError("\(name.member) is not set", hints: hints)
    }

    package func duration(_ name: SettingName, standard: Duration) throws(SettingsError) -> Duration
    {
        guard let setting = text(name) else { return standard }
        guard let parsed = DurationArgument(argument: setting.value), parsed.duration > .zero else {
            throw SettingsError(
                "\(name.member) '\(setting.value)' is not \(DurationArgument.expectation)",
                from: setting.origin)
        }
        return parsed.duration
    }

    package func timeout() throws(SettingsError) -> Duration {
        try duration(.timeout, standard: .seconds(30))
    }

    package func secretLifetime() throws(SettingsError) -> Duration {
        let lifetime = try duration(.secretLifetime, standard: .seconds(300))
        if lifetime > ClientSecret.longestLifetime, let setting = text(.secretLifetime) {
            throw SettingsError(
                ClientSecretError.tooLong(lifetime).description, from: setting.origin,
                hints: ["180d is inside the limit; a rotation by cron needs far less"])
        }
        return lifetime
    }

    package func maxAttempts() throws(SettingsError) -> Int {
        let setting = maxAttemptsSetting
        guard (1...100).contains(setting.value) else {
            throw SettingsError(
                "max_attempts must be between 1 and 100, not \(setting.value)",
                from: setting.origin)
        }
        return setting.value
    }

    package var maxAttemptsSetting: Setting<Int> {
        selection.maxAttempts.map {
            Setting(value: $0, origin: .flag(SettingName.maxAttempts.flag))
        }
            ?? fromProfile { $0.number(.maxAttempts) } ?? Setting(value: 4, origin: .standard)
    }

    /// The redirect URI. An empty one, as from `--redirect-uri "$URI"` with an unset variable, is
    /// an error: Apple would refuse the request after the code is used.
    package func redirectURI() throws(SettingsError) -> String? {
        guard let setting = text(.redirectURI) else { return nil }
        guard !setting.value.isEmpty else {
            throw SettingsError("redirect_uri is empty", from: setting.origin)
        }
        return setting.value
    }

    package func baseURL() throws(SettingsError) -> BaseURL {
        guard let setting = text(.baseURL) else { return .apple }
        do {
            return try BaseURL(validating: setting.value)
        } catch {
            // The text before an @ may be a password.
            let shown = setting.value.mentions("@") ? "" : " '\(setting.value)'"
            throw SettingsError(
                "base_url\(shown) \(error)", from: setting.origin)
        }
    }

    /// The accepted values of `aud`; the client itself unless the settings have others.
    package func audiences() throws(SettingsError) -> [String] {
        if let setting = audiencesSetting, !setting.value.isEmpty {
            guard !setting.value.contains("") else {
                throw SettingsError("audiences contains an empty client id", from: setting.origin)
            }
            return setting.value
        }
        guard text(.clientID) != nil else {
            throw missing(.clientID, or: "name the clients to accept with --audience")
        }
        let client: ClientID = try identifier(.clientID)
        return [client.rawValue]
    }

    package var audiencesSetting: Setting<[String]>? {
        if !selection.audiences.isEmpty {
            return Setting(value: selection.audiences, origin: .flag(SettingName.audiences.flag))
        }
        return fromProfile { $0.list(.audiences) }
    }

    /// The file of extra certificate authorities, after checking that it contains some.
    package func authorityFile(in world: World) throws(SettingsError) -> AuthorityFile? {
        guard let setting = path(.caFile) else { return nil }
        let file: LocalFile
        do {
            file = try world.files.read(setting.value)
        } catch {
            throw SettingsError(
                "ca_file cannot be used: \(error)",
                hints: error.advice(
                    or: "restore it, or fix the path where it is set: \(setting.origin)"))
        }
        guard holdsAuthorities(file.contents) else {
            throw SettingsError(
                "ca_file '\(setting.value)' contains no PEM certificate",
                hints: ["use a file that has -----BEGIN CERTIFICATE----- lines"])
        }
        return AuthorityFile(
            path: setting.value, text: SecretText(file.contents),
            warning: FileWarning(
                "the authority file", setting.value, file.status, isSecret: false, in: world))
    }
}

/// Whether a text contains a certificate in PEM.
package func holdsAuthorities(_ contents: SecretBytes) -> Bool {
    let text = String(decoding: contents.revealed(), as: UTF8.self)
    return text.mentions("-----BEGIN CERTIFICATE-----") || text.mentions("-----BEGIN TRUSTED")
}

/// A file of authorities to trust besides the system's.
package struct AuthorityFile: Sendable {
    let path: String
    let text: SecretText
    /// A warning if others can write it, and so choose whom siwa trusts.
    let warning: FileWarning?
}

extension Session {
    /// The file of extra certificate authorities, which others must not be able to write.
    package func authorities() throws(SettingsError) -> AuthorityFile? {
        let file = try settings.authorityFile(in: world)
        try examine(file?.warning, .configuration)
        return file
    }
}
