import SIWAApplication
import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
internal import SIWASystem
import SIWAVaultRecords

/// The configuration as siwa-server uses it: the profiles and the vault that they share, read as
/// `siwa` reads them, and the settings of the server itself.
struct ServedConfiguration: Sendable {
    /// The file; nil if all settings come from the environment.
    let path: String?
    /// Identifies the contents of the file.
    var fingerprint: String? { session.settings.file?.fingerprint }
    /// The object `server`; nil if absent.
    let server: JSON?
    /// Warnings for the operator.
    let warnings: [String]
    /// The names of the profiles; nil for the client of the environment.
    private let profiles: [String?]
    private let defaultProfile: String?
    private let named: String?
    private var session: Session

    /// The same configuration, which prints no warnings.
    var quiet: ServedConfiguration {
        var configuration = self
        var output = OutputOptions()
        output.isQuiet = true
        configuration.session = Session(session.settings, output, in: session.world)
        return configuration
    }

    /// Reads the configuration.
    ///
    /// - Parameter file: nil searches as `siwa` does.
    /// - Throws: ``Diagnosis``, also if profiles have different vaults.
    init(_ file: String?, in world: World) throws(Diagnosis) {
        do {
            self = try Self(reading: file, in: world)
        } catch {
            throw Diagnosis(error)
        }
    }

    private init(reading file: String?, in world: World) throws {
        named = file
        var selection = ProfileSelection(file: file)
        let settings = try Settings(selection, in: world)
        path = settings.file?.path
        server = settings.file?.server
        let names = settings.file?.profileNames ?? []
        profiles = names.isEmpty ? [nil] : names
        defaultProfile = settings.profileName?.value
        selection.name = defaultProfile ?? names.first
        session = Session(try Settings(selection, in: world), OutputOptions(), in: world)
        warnings = settings.warnings
        try checkVaults(in: world)
    }

    private func checkVaults(in world: World) throws {
        let url = try session.settings.vaultURL().value
        for name in profiles.compactMap(\.self) {
            let settings = try Settings(
                ProfileSelection(file: named, name: name), in: world)
            guard try settings.vaultURL().value == url else {
                throw SettingsError(
                    "profile '\(name)' has another vault than the first profile",
                    hints: ["set one vault for all profiles, next to 'profiles' in \(path ?? "")"])
            }
        }
    }

    /// Reads the clients of all profiles, and their keys.
    ///
    /// - Parameters:
    ///   - wrap: wraps the transport of the profile with this name to Apple.
    ///   - trace: receives every request.
    ///   - watch: hears how the signer of the profile with this name does.
    func clients(
        wrap: (String, any Transport) -> any Transport = { $1 }, trace: RequestTrace? = nil,
        watch: @escaping @Sendable (String, SignerEvent) -> Void = { _, _ in }
    ) throws(Diagnosis) -> [ProfileClient] {
        let signers = SharedSigners()
        do {
            return try profiles.map { name in
                try ProfileClient(
                    profile: name, configuration: named, in: session.world, wrap: wrap,
                    trace: trace, sharing: signers, watch: watch)
            }
        } catch {
            throw Diagnosis(error)
        }
    }

    /// What is wrong with the keys of profiles: the service's credential, the Key ID and the key that
    /// the profile names are not those of one key, or one key has several Key IDs.
    var keyWarnings: [String] {
        let world = session.world
        var warnings: [String] = []
        var uses: [KeyUse] = []
        for name in profiles {
            guard let session = try? quietSession(of: name),
                case .signing(let loaded)? = try? session.requestClient()
            else { continue }
            uses.append(
                KeyUse(
                    name ?? "", loaded.key.publicKey.fingerprint,
                    keyID: loaded.client.signingKey.id.rawValue))
            let candidates = LocalCandidates(session.settings, in: world)
            if let finding = ClientFindings(loaded, candidates).mistaken {
                warnings.append(
                    "\(name.map { "profile '\($0)': " } ?? "")\(finding.seen); \(finding.advice)")
            }
        }
        return warnings + KeyUse.faults(among: uses).map { "\($0); \(KeyUse.remedy)" }
    }

    /// The files of authorities that profiles trust in place of the system's.
    var authorityFiles: [String] {
        profiles.compactMap { try? quietSession(of: $0).settings.path(.caFile)?.value }
    }

    /// A session with the settings of a profile, whose warnings were printed with the clients.
    private func quietSession(of profile: String?) throws -> Session {
        var output = OutputOptions()
        output.isQuiet = true
        return try Session(
            ProfileSelection(file: named, name: profile), output, in: session.world)
    }

    /// Why the files that profiles name besides their keys could not be used at a start: those of a
    /// client_secret, and of authorities. Reads them.
    var profileFileFaults: [String] {
        let world = session.world
        return profiles.compactMap { name in
            do {
                let session = try quietSession(of: name)
                _ = try session.authorities()
                if try session.settings.clientSecretPlace(in: world) != nil {
                    _ = try session.requestClient()
                }
                return nil
            } catch {
                return "\(name.map { "profile '\($0)': " } ?? "")\(Diagnosis(error).message)"
            }
        }
    }

    /// The name of the profile of requests that name none; nil if nothing chooses one.
    var standardProfile: String? { defaultProfile }

    /// The file of an embedded vault; nil for one on a server.
    func vaultFile() throws(Diagnosis) -> String? {
        do {
            return Settings.path(inVault: try session.settings.vaultURL().value)
        } catch {
            throw Diagnosis(error)
        }
    }

    /// The places of the vault and its keys.
    func vaultPlace() throws(Diagnosis) -> VaultPlace {
        do {
            return VaultPlace(
                url: try session.settings.vaultURL().value,
                keys: try session.settings.vaultKeySource(session.world.variables).value)
        } catch {
            throw Diagnosis(error)
        }
    }

    /// The places of a vault and its keys.
    struct VaultPlace: Hashable, Sendable {
        let url: String
        let keys: VaultKeySource
    }

    /// Connects to the vault's database.
    ///
    /// - Parameter timeout: the time limit of a call of the database.
    func serverStore(_ timeout: StoreTimeout) throws(Diagnosis) -> ServerStore {
        do {
            return try session.serverStore(timeout)
        } catch {
            throw Diagnosis(error)
        }
    }

    /// Reads the keys of the vault.
    func vaultKeys() throws(Diagnosis) -> VaultKeyRing {
        do {
            return try session.vaultKeys()
        } catch {
            throw Diagnosis(error)
        }
    }

    /// Warns of a file that others can write, and refuses it if the configuration is strict.
    ///
    /// - Parameter name: the name of the file in messages, such as `the key set`.
    func examine(
        _ name: String, _ path: String, isSecret: Bool = false
    ) throws(Diagnosis) {
        let world = session.world
        do {
            try session.examine(
                FileWarning(
                    name, path, world.files.status(path), isSecret: isSecret, in: world),
                .configuration)
        } catch {
            throw Diagnosis(error)
        }
    }

    /// The absolute path of a path in the configuration.
    func resolve(_ path: String) -> String {
        guard let file = self.path else { return path }
        return session.settings.resolve(path, from: .file(file))
    }
}
