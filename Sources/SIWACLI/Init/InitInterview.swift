internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASystem

/// Collects the settings of a new configuration from flags, and asks for the others.
struct InitInterview {
    private let command: InitCommand
    private let folder: String
    private let world: World
    private let console: Console

    /// - Parameter folder: where the configuration will be.
    init(_ command: InitCommand, folder: String, in world: World) {
        (self.command, self.folder, self.world) = (command, folder, world)
        console = Console(world, command.global.output)
    }

    /// The key and the settings.
    func settings() throws -> (InitialKey, InitialSettings) {
        if world.ask == nil { try checkRequired() }
        let key = try key()
        let teamID: TeamID = try identifier(
            command.global.teamID, .teamID, "Team ID (developer.apple.com, Membership details)"
        ) { id throws(SettingsError) in
            guard id.rawValue == key.keyID.rawValue else { return }
            throw SettingsError(
                "team_id '\(id)' is the Key ID of the key", from: .flag(SettingName.teamID.flag))
        }
        let (appID, servicesID) = try clients(of: teamID)
        let redirectURI = servicesID == nil ? nil : try redirectURI()
        let settings = InitialSettings(
            teamID: teamID, keyID: key.keyID, privateKey: key.setting, appID: appID,
            servicesID: servicesID, redirectURI: redirectURI, baseURL: command.global.baseURL,
            caFile: command.global.caFile.map(world.files.absolutePath),
            vaultURL: try vaultURL(), isForServer: command.isForServer)
        return (key, settings)
    }

    /// Lists all missing settings if there is no terminal to ask on.
    private func checkRequired() throws(UsageError.Problem) {
        let global = command.global
        let missing =
            (global.teamID == nil ? ["--team-id"] : [])
            + (global.key == nil && global.signer.signer == nil ? ["--key"] : [])
            + (global.clientID == nil && command.servicesID == nil
                ? ["--client-id or --services-id"] : [])
        guard missing.isEmpty else {
            throw .misuse(
                "without a terminal, init requires \(missing.joined(separator: ", "))",
                hint: "give the flags, or run it in a terminal")
        }
    }

    private func key() throws -> InitialKey {
        if let signer = try command.global.signer.setting() { return try key(of: signer) }
        var (source, text) = try command.global.key.map(read) ?? askForKey()
        if case .file(let path) = source { source = .file(world.files.absolutePath(path)) }
        let keyID: KeyID =
            if command.global.keyID == nil, let named = source.keyIDInName { named } else {
                try identifier(
                    command.global.keyID, .keyID, "Key ID (developer.apple.com, Keys)")
            }
        return InitialKey(
            text, from: source, id: keyID, folder: folder, isAbsolute: command.isForServer)
    }

    private func key(of signer: SignerSetting) throws -> InitialKey {
        guard command.global.key == nil else {
            throw UsageError.Problem.misuse(
                "--signer and --key exclude each other", hint: "omit one of them")
        }
        var selection = ProfileSelection()
        selection.signer = signer
        let key = try Settings(withoutFile: selection, in: world).loadKey(in: world)
        let keyID: KeyID = try identifier(
            command.global.keyID, .keyID, "Key ID (developer.apple.com, Keys)")
        return InitialKey(signer, publicKey: key.publicKey, id: keyID)
    }

    private func askForKey() throws -> (PrivateKeySource, SecretBytes) {
        try answer("Private key (path of AuthKey_<Key ID>.p8)", or: "--key") { path in
            let home = UserFolders(world.variables).home ?? "~"
            return try read(.file(path.hasPrefix("~/") ? home + path.dropFirst() : path))
        }
    }

    /// Reads a key, and checks that it is one.
    private func read(_ argument: KeyArgument) throws -> (PrivateKeySource, SecretBytes) {
        var selection = ProfileSelection()
        selection.key = argument.source
        let settings = Settings(withoutFile: selection, in: world)
        guard let source = try settings.keySource(in: world) else {
            throw settings.missing(.privateKey)
        }
        try requireOpenSSL()
        let (text, warning) = try settings.keyText(source, in: world)
        _ = try settings.privateKey(text, source.value)
        if let warning { console.warn(warning.text) }
        return (source.value, text)
    }

    private func clients(of team: TeamID) throws -> (app: ClientID?, services: ClientID?) {
        let (app, services) = (command.global.clientID, command.servicesID)
        guard app == nil, services == nil else {
            let appID = try app.map { try client($0, of: team, .clientID) }
            return (
                appID, try services.map { try client($0, of: team, .servicesID, besides: appID) }
            )
        }
        let appID: ClientID? = try answer(
            "App ID of the app (its bundle id; empty if there is only a website)",
            or: "--client-id"
        ) { $0.isEmpty ? nil : try client($0, of: team, .clientID) }
        let servicesID: ClientID? = try answer(
            "Services ID of the website" + (appID == nil ? "" : " (empty if there is only an app)"),
            or: "--services-id"
        ) {
            appID != nil && $0.isEmpty ? nil : try client($0, of: team, .servicesID, besides: appID)
        }
        return (appID, servicesID)
    }

    /// Reads a client id. One that begins with the Team ID, as Apple's portal shows App IDs, is
    /// offered without it.
    ///
    /// - Parameter other: the App ID, which the Services ID differs from.
    private func client(
        _ text: String, of team: TeamID, _ name: SettingName, besides other: ClientID? = nil
    ) throws -> ClientID {
        var client: ClientID = try checked(text, name)
        let prefix = "\(team.rawValue)."
        if client.rawValue.uppercased().hasPrefix(prefix) {
            let bare = String(client.rawValue.dropFirst(prefix.count))
            client = try checked(
                offer(
                    bare, name, "'\(client.rawValue)' begins with the Team ID; leave that out"),
                name)
        }
        let kind: String? =
            client.rawValue.uppercased() == team.rawValue
            ? "the Team ID; an identifier is like com.example.app"
            : client == other ? "the App ID; a website has another identifier" : nil
        guard let kind else { return client }
        throw SettingsError(
            "\(name.member) '\(client.rawValue)' is \(kind)", from: .flag(name.flag))
    }

    /// Offers a correction at the terminal; without one, it is in the error.
    private func offer(
        _ correction: String, _ name: SettingName, _ fault: String
    ) throws -> String {
        let error = SettingsError(
            "\(name.member) \(fault): \(correction)", from: .flag(name.flag))
        guard let ask = world.ask else { throw error }
        let answer = try ask("  \(name.member) \(fault). Use \(correction)? [Y/n]: ").trimmingSpace
        guard ["", "y", "yes"].contains(answer.lowercased()) else { throw error }
        return correction
    }

    private func redirectURI() throws -> String? {
        if let typed = command.redirectURI { return try checkedRedirectURI(typed) }
        guard command.servicesID == nil else { return nil }
        return try answer(
            "Redirect URI of the website (https; empty to set it later)", or: "--redirect-uri"
        ) { $0.isEmpty ? nil : try checkedRedirectURI($0) }
    }

    private func checkedRedirectURI(_ text: String) throws -> String {
        do {
            _ = try RedirectURI(validating: text)
        } catch {
            // The text before an @ may be a password.
            let shown = error == .user ? "" : " '\(text)'"
            throw SettingsError("redirect_uri\(shown) \(error)", from: .flag("--redirect-uri"))
        }
        return text
    }

    private func vaultURL() throws -> String? {
        switch command.vault {
        case _ where command.isWithoutVault: return nil
        case .configured: return defaultVault
        case .url(let url):
            guard let path = Settings.path(inVault: url), !path.isEmpty else { return url }
            return "sqlite:" + world.files.absolutePath(path)
        case nil where command.isForServer: return defaultVault
        case nil:
            guard world.ask != nil else { return nil }
            let question = "Create a vault for refresh tokens, \(folder)/vault.db? [Y/n]"
            return try answer(question, or: "--vault or --no-vault") { answer in
                switch answer.lowercased() {
                case "", "y", "yes": defaultVault
                case "n", "no": nil
                default: throw InitAnswerError(message: "answer y or n")
                }
            }
        }
    }

    /// The path is relative to the configuration, except that of the service.
    private var defaultVault: String {
        command.isForServer ? "sqlite:\(ServiceFiles.state)/vault.db" : "sqlite:vault.db"
    }

    /// An identifier of ten capitals and digits. Small letters are offered as capitals.
    ///
    /// - Parameter check: what else must hold.
    private func identifier<ID: Identifier>(
        _ typed: String?, _ name: SettingName, _ question: String,
        check: (ID) throws -> Void = { _ in }
    ) throws -> ID {
        func read(_ text: String) throws -> ID {
            var id: ID = try checked(text, name)
            let capitals = id.rawValue.uppercased()
            if id.rawValue != capitals {
                id = try checked(
                    offer(capitals, name, "'\(id.rawValue)' has small letters"), name)
            }
            try check(id)
            return id
        }
        return try typed.map(read) ?? answer(question, or: name.flag, reading: read)
    }

    private func checked<ID: Identifier>(
        _ text: String, _ name: SettingName
    ) throws(SettingsError) -> ID {
        do {
            return try ID(validating: text)
        } catch {
            throw SettingsError(
                "\(name.member) '\(error.text)' \(error.fault)", from: .flag(name.flag))
        }
    }

    /// Asks until the answer is valid, at most three times.
    ///
    /// - Parameter flag: the flag that replaces the question.
    private func answer<Value>(
        _ question: String, or flag: String, reading: (String) throws -> Value
    ) throws -> Value {
        for _ in 0..<3 {
            guard let ask = world.ask else { break }
            do {
                return try reading(try ask("\(question): ").trimmingSpace)
            } catch let error as InitAnswerError {
                world.errorLine("  \(error.message)")
            } catch let error as SettingsError {
                world.errorLine("  \(printable(error.message))")
            }
        }
        throw UsageError.Problem.misuse(
            "init requires \(flag)", hint: "give \(flag), or answer the question in a terminal")
    }
}

/// An answer that a question does not accept.
struct InitAnswerError: Error, CustomStringConvertible {
    let message: String

    var description: String { message }
}
