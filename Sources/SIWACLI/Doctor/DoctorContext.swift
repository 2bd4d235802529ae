internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWADiagnosis
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// Everything that `siwa doctor` examines, read as far as possible: a faulty part does not prevent
/// the examination of the others.
struct DoctorContext: Sendable {
    let session: Session
    /// Why the configuration is not used; nil if it is.
    let configurationFault: SettingsError?
    let teamID: Result<TeamID, SettingsError>
    let clientID: Result<ClientID, SettingsError>
    let key: Result<LoadedKey, SettingsError>
    let keyID: Result<KeyID, SettingsError>
    /// The client; nil if a part of it is missing or invalid.
    let client: LoadedClient?
    let localCandidates: LocalCandidates
    /// A secret that another machine minted.
    let given: SecretText?
    /// Why the client_secret of the settings cannot be read.
    let givenFault: SettingsError?

    init(_ global: GlobalOptions, given argument: SecretArgument?, in world: World) throws {
        let selection = try global.selection()
        var fault: SettingsError?
        let settings: Settings
        do {
            settings = try Settings(selection, in: world)
        } catch {
            fault = error
            settings = Settings(withoutFile: selection, in: world)
        }
        configurationFault = fault
        session = Session(settings, global.output, in: world)
        (given, givenFault) = try Self.given(argument, session)
        teamID = Self.reading { () throws(SettingsError) in try settings.identifier(.teamID) }
        clientID = Self.reading { () throws(SettingsError) in try settings.identifier(.clientID) }
        let key = Self.reading { () throws(SettingsError) in try settings.loadKey(in: world) }
        self.key = key
        keyID = Self.reading { () throws(SettingsError) in
            try settings.keyID(of: (try? key.get())?.source.value)
        }
        localCandidates = LocalCandidates(settings, in: world)
        client = Self.client(session, teamID, clientID, key, keyID)
    }

    /// The checks that need no requests to Apple.
    func offlineChecks() async -> [CheckLine] {
        SettingsCheck(self).lines + (await KeyCheck(self).lines())
            + (await SecretCheck(self).lines())
    }

    /// Opens the vault without the warnings about its files, which are those of every command.
    var quietSession: Session {
        var output = OutputOptions()
        output.isQuiet = true
        return Session(settings, output, in: world)
    }

    var settings: Settings { session.settings }
    var world: World { session.world }
    var now: NumericDate { session.world.clocks.now() }

    /// Whether a setting may be in the configuration, which cannot be read.
    func isUnread<Value>(_ setting: Setting<Value>?) -> Bool {
        configurationFault != nil && setting == nil
    }

    /// The expected values of a secret.
    var expected: ExpectedClient {
        let loaded = try? key.get()
        let inUse = loaded.map {
            KnownKey($0.source.value.description, $0.publicKey)
        }
        let others = localCandidates.keyFiles.map(\.known).filter { other in
            inUse.map { !$0.publicKey.isSame(as: other.publicKey) } ?? true
        }
        var expected = ExpectedClient(
            teamID: try? teamID.get(), clientID: try? clientID.get(), keyID: try? keyID.get(),
            key: inUse, otherKeys: others)
        expected.otherClients = settings.otherClients
        return expected
    }

    /// The secret of `--secret`, or the one that the settings have in place of a key.
    private static func given(
        _ argument: SecretArgument?, _ session: Session
    ) throws -> (SecretText?, SettingsError?) {
        if let argument { return (try session.secret(argument, "--secret", isWhole: true), nil) }
        do {
            guard let place = try session.settings.clientSecretPlace(in: session.world) else {
                return (nil, nil)
            }
            return (try session.text(of: place), nil)
        } catch let error as SettingsError {
            return (nil, error)
        }
    }

    private static func client(
        _ session: Session, _ teamID: Result<TeamID, SettingsError>,
        _ clientID: Result<ClientID, SettingsError>, _ key: Result<LoadedKey, SettingsError>,
        _ keyID: Result<KeyID, SettingsError>
    ) -> LoadedClient? {
        guard let teamID = try? teamID.get(), let clientID = try? clientID.get(),
            let key = try? key.get(), let keyID = try? keyID.get()
        else { return nil }
        let lifetime = (try? session.settings.secretLifetime()) ?? .seconds(300)
        return LoadedClient(
            client: Client(
                teamID: teamID, clientID: clientID,
                signingKey: session.watched(key.signing(as: keyID)), secretLifetime: lifetime),
            key: key)
    }

    private static func reading<Value>(
        _ read: () throws(SettingsError) -> Value
    ) -> Result<Value, SettingsError> {
        do {
            return .success(try read())
        } catch {
            return .failure(error)
        }
    }
}
