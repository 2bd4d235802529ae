internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASystem

/// The configuration file in use: that of `--config`, `SIWA_CONFIG`, the user's or the machine's. A
/// file in the working directory is never used, because a downloaded folder must not choose the
/// key.
package struct ConfigurationPath: Sendable {
    /// The path with its origin; nil without a configuration.
    package let path: Setting<String>?
    private let world: World

    package init(_ selection: ProfileSelection, in world: World) {
        self.world = world
        if let file = selection.file {
            path = Setting(value: file, origin: .flag("--config"))
        } else if let named = nonEmpty(world.variables("SIWA_CONFIG")) {
            path = Setting(value: named, origin: .variable("SIWA_CONFIG"))
        } else {
            path = Self.usual(world.variables).first(where: world.files.exists).map {
                Setting(value: $0, origin: .standard)
            }
        }
    }

    /// Why root may mean another file; nil if there is no doubt.
    ///
    /// The service of the packages has the machine's file. A file of root's own, as `siwa init`
    /// writes it, is found first.
    package var warning: String? {
        guard world.isRoot, let path, path.origin == .standard,
            path.value != Self.machineFile, world.files.exists(Self.machineFile)
        else { return nil }
        return """
            there are two configurations: \(path.value), which is in use, and \(Self.machineFile); \
            name one with --config, or use 'siwa-admin' for the service's
            """
    }

    /// Reads the file; nil if no file was named and none exists in the usual places.
    package func load() throws(SettingsError) -> SettingsFile? {
        guard let path else { return nil }
        let file: LocalFile
        do {
            file = try world.files.read(path.value)
        } catch {
            throw SettingsError(
                "the configuration cannot be read: \(error)",
                hints: error.advice(or: "fix the path where it is set: \(path.origin)"))
        }
        var settings = try SettingsFile(path: path.value, text: file.contents.revealed())
        settings.isWritableByOthers =
            file.status.isRegular && file.status.permissions & 0o022 != 0
        settings.warning = FileWarning(
            "the configuration", path.value, file.status, isSecret: false, in: world)
        return settings
    }

    /// The usual places; the first existing file is used.
    package static func usual(_ variables: (String) -> String?) -> [String] {
        (UserFolders(variables).configuration.map { [$0 + "/siwa/config.json"] } ?? []) + [
            machineFile
        ]
    }

    private static let machineFile = "/etc/siwa/config.json"
}
