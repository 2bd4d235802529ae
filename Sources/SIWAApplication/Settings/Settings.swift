package import SIWACommandTable
internal import SIWALifecycle

/// Every setting that a command may need, with its origin: flag, then environment, then
/// profile, then default.
package struct Settings: Sendable {
    package let file: SettingsFile?
    package let profileName: Setting<String>?
    package let isStrict: Setting<Bool>
    /// Warnings for the user.
    package let warnings: [String]
    /// What was selected, with the values that replace those of environment and profile.
    package let selection: ProfileSelection
    private let variables: @Sendable (String) -> String?

    package init(_ selection: ProfileSelection, in world: World) throws(SettingsError) {
        self.selection = selection
        variables = world.variables
        let folders = UserFolders(world.variables)
        let place = ConfigurationPath(selection, in: world)
        file = try place.load()
        isStrict = Self.strictness(selection, file)
        profileName = try Self.choose(selection.name, world.variables, file)
        if let warning = file?.warning, isStrict.value { throw warning.refused(.configuration) }
        warnings =
            folders.warnings + [place.warning, file?.warning?.text].compactMap(\.self)
    }

    /// The settings of flags and environment only, if the configuration is broken.
    package init(withoutFile selection: ProfileSelection, in world: World) {
        self.selection = selection
        variables = world.variables
        file = nil
        profileName = nil
        isStrict = Self.strictness(selection, nil)
        warnings = UserFolders(world.variables).warnings
    }

    /// A setting that is text.
    package func text(_ name: SettingName) -> Setting<String>? {
        if let value = selection.overrides[name] {
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
    package func path(_ name: SettingName) -> Setting<String>? {
        guard let setting = text(name) else { return nil }
        return Setting(value: resolve(setting.value, from: setting.origin), origin: setting.origin)
    }

    /// A path, resolved by its origin.
    package func resolve(_ path: String, from origin: Origin) -> String {
        switch origin {
        case .profile(_, let file), .file(let file): resolve(path, against: folder(of: file))
        default: path
        }
    }

    /// A path of the configuration: `~` is the home folder; other paths are relative to the
    /// configuration's folder.
    package func resolve(_ path: String, against folder: String) -> String {
        if path.hasPrefix("/") { return path }
        if path.hasPrefix("~/"), let home = UserFolders(variables).home {
            return home + path.dropFirst()
        }
        return folder + "/" + path
    }

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
        _ selection: ProfileSelection, _ file: SettingsFile?
    ) -> Setting<Bool> {
        if selection.isStrict { return Setting(value: true, origin: .flag("--strict")) }
        if let file, file.isStrict { return Setting(value: true, origin: .file(file.path)) }
        return Setting(value: false, origin: .standard)
    }
}

/// The profile to read, and what replaces its values.
package struct ProfileSelection: Sendable {
    /// The configuration file; nil for the one of the environment or the usual places.
    var file: String?
    /// The name of the profile; nil for the one of the environment or the file.
    package var name: String?
    /// Refuses files that others can read or write, and secrets on the command line.
    package var isStrict = false
    /// Texts that replace those of environment and profile.
    package var overrides = SettingOverrides()
    package var key: PrivateKeySource?
    package var signer: SignerSetting?
    package var clientSecret: SecretArgument?
    package var maxAttempts: Int?
    /// The accepted clients; empty for those of the profile.
    package var audiences: [String] = []

    package init(file: String? = nil, name: String? = nil) {
        (self.file, self.name) = (file, name)
    }
}

/// Treats an empty variable as unset, as scripts do.
package func nonEmpty(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }

/// The parent folder of a path, without a slash at its end.
package func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}
