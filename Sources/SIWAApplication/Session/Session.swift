package import SIWACommandTable
internal import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle

/// The complete settings of a command, and the functions that use them.
package struct Session: Sendable {
    package let world: World
    package let options: OutputOptions
    package let settings: Settings
    package let console: Console
    /// By the monotonic clock.
    let startOfCommand: Duration

    /// - Parameter isShowing: the command only shows the settings, even malformed ones.
    package init(
        _ selection: ProfileSelection, _ options: OutputOptions = OutputOptions(),
        isShowing: Bool = false, in world: World
    ) throws(SettingsError) {
        self.init(try Settings(selection, in: world), options, in: world)
        if !isShowing { try settings.checkValues() }
        for warning in settings.warnings { console.warn(warning) }
    }

    package init(_ settings: Settings, _ options: OutputOptions, in world: World) {
        self.world = world
        self.options = options
        self.settings = settings
        console = Console(world, options)
        startOfCommand = world.clocks.timekeeper.elapsed()
    }

    /// Reports when a client_secret expires, for `--metrics`.
    package func noteClientSecret(expiringAt date: NumericDate) {
        world.metrics.note {
            $0.secretExpiresAt = date
            $0.profile = settings.profileName?.value ?? ""
        }
    }

    /// Reads a secret argument.
    ///
    /// - Parameter isWhole: reads all of its lines.
    package func secret(
        _ argument: SecretArgument, _ name: String, isWhole: Bool = false
    ) throws -> SecretText {
        try argument.resolve(
            name, isStrict: settings.isStrict.value, isWhole: isWhole, in: world)
    }

    /// The client id; warns of a Team ID in front of it.
    package func clientID() throws(SettingsError) -> ClientID {
        let clientID: ClientID = try settings.identifier(.clientID)
        if let teamID = settings.text(.teamID)?.value, clientID.rawValue.hasPrefix(teamID + ".") {
            console.warn("client_id begins with the Team ID, which is not part of it: \(clientID)")
        }
        return clientID
    }

    /// The client, with checked identifiers and its key; prints warnings.
    package func client() throws(SettingsError) -> LoadedClient {
        let teamID: TeamID = try settings.identifier(.teamID)
        let clientID = try clientID()
        let key = try settings.loadKey(in: world)
        for warning in key.warnings { console.warn(warning) }
        try key.check()
        let keyID = try settings.keyID(of: key.source.value)
        if let named = key.keyIDInName, named != keyID {
            console.warn(
                "the key file is named for \(named), but key_id is \(keyID): "
                    + settings.placesOfKey(key))
        }
        return LoadedClient(
            client: Client(
                teamID: teamID, clientID: clientID,
                signingKey: watched(key.signing(as: keyID)),
                secretLifetime: try settings.secretLifetime()),
            key: key)
    }
}

extension Session {
    /// The key, with a note to the user while its signer lets them wait.
    package func watched(_ key: SigningKey) -> SigningKey {
        guard !key.signer.isAtOnce else { return key }
        var key = key
        key.watch = { [console] event in
            if case .waiting = event {
                console.note("waiting for the signer (touch? confirmation?)")
            }
        }
        return key
    }
}

/// A complete client, with the origin of its key for hints.
package struct LoadedClient: Sendable {
    package let client: Client
    package let key: LoadedKey

    package init(client: Client, key: LoadedKey) { (self.client, self.key) = (client, key) }
}
