internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

// Settings as the domain wants them: of the right type, or an error that names their origin.
extension Settings {
    /// An identifier the command cannot do without.
    func identifier<ID: Identifier>(_ name: SettingName) throws(SettingsError) -> ID {
        guard let setting = text(name) else { throw missing(name) }
        do {
            return try ID(validating: setting.value)
        } catch {
            throw SettingsError(
                "\(name.member) '\(error.text)' \(error.fault)", from: setting.origin)
        }
    }

    /// A setting the command cannot do without is nowhere.
    func missing(_ name: SettingName, or alternative: String? = nil) -> SettingsError {
        var hints = ["set it with \(name.places)"] + (alternative.map { [$0] } ?? [])
        if let file, profileName == nil, !file.profileNames.isEmpty {
            hints.insert(
                "choose a profile with --profile: \(file.profileNames.joined(separator: ", "))",
                at: 0)
        } else if file == nil {
            hints.append(
                "there is no configuration; 'siwa config path' tells where one is looked for")
        }
        return SettingsError("\(name.member) is not set", hints: hints)
    }

    func duration(_ name: SettingName, standard: Duration) throws(SettingsError) -> Duration {
        guard let setting = text(name) else { return standard }
        guard let parsed = DurationText(argument: setting.value), parsed.duration > .zero else {
            throw SettingsError(
                "\(name.member) '\(setting.value)' is not \(DurationText.expectation)",
                from: setting.origin)
        }
        return parsed.duration
    }

    func timeout() throws(SettingsError) -> Duration {
        try duration(.timeout, standard: .seconds(30))
    }

    func secretLifetime() throws(SettingsError) -> Duration {
        let lifetime = try duration(.secretLifetime, standard: .seconds(300))
        if lifetime > ClientSecret.longestLifetime, let setting = text(.secretLifetime) {
            throw SettingsError(
                ClientSecretError.tooLongWords, from: setting.origin,
                hints: ["180d is inside the limit; a rotation by cron needs far less"])
        }
        return lifetime
    }

    func maxAttempts() throws(SettingsError) -> Int {
        let setting = maxAttemptsSetting
        guard (1...100).contains(setting.value) else {
            throw SettingsError(
                "max_attempts must be between 1 and 100, not \(setting.value)",
                from: setting.origin)
        }
        return setting.value
    }

    var maxAttemptsSetting: Setting<Int> {
        maxAttemptsTyped.map { Setting(value: $0, origin: .flag(SettingName.maxAttempts.flag)) }
            ?? fromProfile { $0.number(.maxAttempts) } ?? Setting(value: 4, origin: .standard)
    }

    /// What a shell leaves of `--redirect-uri "$URI"` when the variable is not set would spend a
    /// code on a refusal.
    func redirectURI() throws(SettingsError) -> String? {
        guard let setting = text(.redirectURI) else { return nil }
        guard !setting.value.isEmpty else {
            throw SettingsError("redirect_uri is empty", from: setting.origin)
        }
        return setting.value
    }

    func baseURL() throws(SettingsError) -> BaseURL {
        guard let setting = text(.baseURL) else { return .apple }
        do {
            return try BaseURL(validating: setting.value)
        } catch {
            // Before an @ may stand a password.
            let shown = setting.value.mentions("@") ? "" : " '\(setting.value)'"
            throw SettingsError(
                "base_url\(shown) \(error)", from: setting.origin)
        }
    }

    /// Whom a token of Apple's may be for; the client itself unless the settings say more.
    func audiences() throws(SettingsError) -> [String] {
        if let setting = audiencesSetting, !setting.value.isEmpty {
            guard !setting.value.contains("") else {
                throw SettingsError("audiences holds an empty client id", from: setting.origin)
            }
            return setting.value
        }
        guard text(.clientID) != nil else {
            throw missing(.clientID, or: "name the clients to accept with --audience")
        }
        let client: ClientID = try identifier(.clientID)
        return [client.rawValue]
    }

    var audiencesSetting: Setting<[String]>? {
        if !audiencesTyped.isEmpty {
            return Setting(value: audiencesTyped, origin: .flag(SettingName.audiences.flag))
        }
        return fromProfile { $0.list(.audiences) }
    }

    /// The extra authorities, once it is certain that they can be read and hold some.
    func authorityFile(in world: World) throws(SettingsError) -> AuthorityFile? {
        guard let setting = path(.caFile) else { return nil }
        let contents: SecretBytes
        do {
            contents = try world.files.read(setting.value).contents
        } catch {
            throw SettingsError(
                "ca_file cannot be used: \(error)",
                hints: ["mend it where it was set: \(setting.origin)"])
        }
        let text = String(decoding: contents.revealed(), as: UTF8.self)
        guard text.mentions("-----BEGIN CERTIFICATE-----") || text.mentions("-----BEGIN TRUSTED")
        else {
            throw SettingsError(
                "ca_file '\(setting.value)' holds no certificate in PEM",
                hints: ["it must hold lines beginning -----BEGIN CERTIFICATE-----"])
        }
        return AuthorityFile(path: setting.value, text: SecretText(contents))
    }
}

/// A file of authorities to trust besides the system's.
struct AuthorityFile: Sendable {
    let path: String
    let text: SecretText
}
