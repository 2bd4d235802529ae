internal import CommandTable
internal import Lifecycle

/// Every setting that a command may need, with its origin: flag, then environment, then
/// profile, then default.
struct Settings: Sendable {
    let file: SettingsFile?
    let profileName: Setting<String>?
    let isStrict: Setting<Bool>
    /// Warnings for the user.
    let warnings: [String]
    private let typed: TypedSettings
    private let variables: @Sendable (String) -> String?

    init(_ typed: TypedSettings, in world: World) throws(SettingsError) {
        self.typed = typed
        variables = world.variables
        let folders = UserFolders(world.variables)
        file = try ConfigurationPath(typed.global, in: world).load()
        isStrict = Self.strictness(typed.global, file)
        profileName = try Self.choose(typed.global.profile, world.variables, file)
        if let warning = file?.warning, isStrict.value { throw warning.refused(.configuration) }
        warnings = folders.warnings + (file?.warning.map { [$0.text] } ?? [])
    }

    /// The settings of flags and environment only, if the configuration is broken.
    init(withoutFile typed: TypedSettings, in world: World) {
        self.typed = typed
        variables = world.variables
        file = nil
        profileName = nil
        isStrict = Self.strictness(typed.global, nil)
        warnings = UserFolders(world.variables).warnings
    }

    /// A setting that is text.
    func text(_ name: SettingName) -> Setting<String>? {
        if let value = typed.text(name) {
            return Setting(value: value, origin: .flag(name.flag))
        }
        if let variable = name.variable, let value = nonEmpty(variables(variable)) {
            return Setting(value: value, origin: .variable(variable))
        }
        return fromProfile { $0.text(name) } ?? fromFile(name)
    }

    /// A setting of the profile, or of the whole file.
    private func fromFile(_ name: SettingName) -> Setting<String>? {
        guard let file, name.group != nil, let value = file.common.text(name) else { return nil }
        return Setting(value: value, origin: .file(file.path))
    }

    /// Reads a setting from the profile only.
    func fromProfile<Value>(_ read: (SettingsFile.Profile) -> Value?) -> Setting<Value>? {
        guard let file, let profileName, let profile = file.profiles[profileName.value],
            let value = read(profile)
        else { return nil }
        return Setting(value: value, origin: .profile(profileName.value, file: file.path))
    }

    /// A path setting; a path in the configuration is relative to the configuration.
    func path(_ name: SettingName) -> Setting<String>? {
        guard let setting = text(name) else { return nil }
        return Setting(value: resolve(setting.value, from: setting.origin), origin: setting.origin)
    }

    /// A path, resolved by its origin.
    func resolve(_ path: String, from origin: Origin) -> String {
        switch origin {
        case .profile(_, let file), .file(let file): resolve(path, against: folder(of: file))
        default: path
        }
    }

    /// A path of the configuration: `~` is the home folder; other paths are relative to the
    /// configuration's folder.
    func resolve(_ path: String, against folder: String) -> String {
        if path.hasPrefix("/") { return path }
        if path.hasPrefix("~/"), let home = UserFolders(variables).home {
            return home + path.dropFirst()
        }
        return folder + "/" + path
    }

    var clientSecretArgument: SecretArgument? { typed.global.clientSecret }
    var privateKeyArgument: KeyArgument? { typed.global.key }
    var maxAttemptsTyped: Int? { typed.global.maxAttempts }
    var audiencesTyped: [String] { typed.audiences }

    private static func choose(
        _ typed: String?, _ variables: (String) -> String?, _ file: SettingsFile?
    ) throws(SettingsError) -> Setting<String>? {
        let asked =
            typed.map { Setting(value: $0, origin: .flag("--profile")) }
            ?? nonEmpty(variables("SIWA_PROFILE")).map {
                Setting(value: $0, origin: .variable("SIWA_PROFILE"))
            }
        guard let file else {
            guard let asked else { return nil }
            throw SettingsError(
                "profile '\(asked.value)' is set, but there is no configuration file",
                hints: ["give the configuration file with --config FILE"])
        }
        if let asked {
            guard file.profiles[asked.value] != nil else {
                throw SettingsError(
                    "\(file.path) has no profile '\(asked.value)'",
                    hints: didYouMean(suggestions(for: asked.value, among: file.profileNames))
                        + ["its profiles: \(file.profileNames.joined(separator: ", "))"])
            }
            return asked
        }
        let name =
            file.defaultProfile ?? (file.profileNames.count == 1 ? file.profileNames[0] : nil)
        return name.map { Setting(value: $0, origin: .file(file.path)) }
    }

    private static func strictness(
        _ options: GlobalOptions, _ file: SettingsFile?
    ) -> Setting<Bool> {
        if options.isStrict { return Setting(value: true, origin: .flag("--strict")) }
        if let file, file.isStrict { return Setting(value: true, origin: .file(file.path)) }
        return Setting(value: false, origin: .standard)
    }
}

/// The settings of the command line: the global options, and those of single commands.
struct TypedSettings: Sendable {
    var global: GlobalOptions
    var lifetime: DurationArgument?
    var redirectURI: String?
    var audiences: [String] = []
    var vault: VaultArgument?

    func text(_ name: SettingName) -> String? {
        switch name {
        case .teamID: global.teamID
        case .clientID: global.clientID
        case .keyID: global.keyID
        case .baseURL: global.baseURL
        case .caFile: global.caFile
        case .timeout: global.timeout?.argumentDescription
        case .secretLifetime: lifetime?.argumentDescription
        case .redirectURI: redirectURI
        case .vaultURL: vault?.url
        default: nil
        }
    }
}

/// Treats an empty variable as unset, as scripts do.
func nonEmpty(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }

/// The parent folder of a path, without a slash at its end.
func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}
