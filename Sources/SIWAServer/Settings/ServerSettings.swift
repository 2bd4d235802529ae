import SIWAApplication
internal import SIWAHTTPServer
import SIWAJOSE
import SIWAServerRecords

/// The object `server` of the configuration.
struct ServerSettings: Hashable, Sendable {
    /// The listener for Apple; nil if it is not opened.
    var notifications: ListenerSettings?
    /// The path to which Apple posts.
    var path = "/apple/notifications"
    /// The listener for the application.
    var api: ListenerSettings?
    /// The listener for monitoring.
    var metrics: ListenerSettings?
    /// Where events are delivered; nil if they are only stored.
    var delivery: DeliverySettings?
    /// Whether the ends of revocations become events.
    var announcesRevocations = false
    /// How stored tokens are validated; nil if they are not.
    var validation: ValidationSettings?
    /// The retention of events that need no more work.
    var keep = Duration.seconds(30 * 86_400)
    /// The longest lifetime of a client_secret that callers may ask for.
    var maxSecretLifetime = Duration.seconds(3600)
    /// Whether user ids are logged; if false, their fingerprints are logged.
    var logsUserIDs = true
    /// The file of keys that replaces Apple's; for tests.
    var keySetFile: String?
    /// The folder of what the server keeps between two runs; nil for the usual one.
    var stateFolder: String?

    /// The members of `server`.
    static let names = [
        "notifications", "api", "metrics", "deliver", "keep", "max_secret_lifetime",
        "log_user_ids", "jwks_file", "state", "validate",
    ]

    /// Reads the settings; without the object, the default listeners are opened on this machine.
    ///
    /// - Throws: ``Diagnosis`` that names the member.
    init(
        _ configuration: ServedConfiguration, variables: (String) -> String?,
        words: ServiceWords = .none
    ) throws(Diagnosis) {
        guard let json = configuration.server, let file = configuration.path else {
            try self.init(standard: variables, words)
            return
        }
        try self.init(json, in: file, resolve: configuration.resolve)
    }

    init(_ json: JSON, in file: String, resolve: (String) -> String) throws(Diagnosis) {
        let reader = try SettingsReader(json, at: "server", in: file, knowing: Self.names)
        let names = ListenerSettings.names
        if let object = try reader.object("notifications", knowing: names + ["path"]) {
            notifications = try ListenerSettings(object, resolve: resolve)
            if let path = try Self.path(object) { self.path = path }
        }
        if let object = try reader.object("api", knowing: names) {
            api = try ListenerSettings(object, resolve: resolve)
        }
        if let object = try reader.object("metrics", knowing: names) {
            metrics = try ListenerSettings(object, resolve: resolve)
        }
        try checkDistinct(reader)
        if let object = try reader.object("deliver", knowing: DeliverySettings.names) {
            announcesRevocations = try object.flag("revocations") ?? false
            delivery = try DeliverySettings(object, resolve: resolve)
        }
        if let object = try reader.object("validate", knowing: ValidationSettings.names) {
            validation = try ValidationSettings(object)
        }
        if let keep = try reader.duration("keep") { self.keep = keep }
        if let lifetime = try reader.duration("max_secret_lifetime") {
            guard lifetime <= .seconds(180 * 86_400) else {
                throw reader.error("max_secret_lifetime", "must be at most 180d")
            }
            maxSecretLifetime = lifetime
        }
        if let logs = try reader.flag("log_user_ids") { logsUserIDs = logs }
        keySetFile = try reader.text("jwks_file").map(resolve)
        stateFolder = try reader.text("state").map(resolve)
    }

    /// Fails if two listeners have one socket: each client would reach any of them, so that clients
    /// of one could call the other.
    private func checkDistinct(_ reader: SettingsReader) throws(Diagnosis) {
        var seen: [ListenAddress: RouteTable.Listener] = [:]
        for listener in RouteTable.Listener.allCases {
            guard let address = self.listener(listener)?.address else { continue }
            // Any free port is another one each time.
            if case .tcp(_, port: 0) = address { continue }
            if let other = seen.updateValue(listener, forKey: address) {
                throw reader.error(
                    "\(listener.rawValue).listen", "is also that of server.\(other.rawValue)",
                    hints: ["give each listener an address of its own"])
            }
        }
    }

    private static func path(_ object: SettingsReader) throws(Diagnosis) -> String? {
        guard let path = try object.text("path") else { return nil }
        let isPath = path.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isPath, path.hasPrefix("/"), !path.contains(where: { "?#{}%".contains($0) }) else {
            throw object.error("path", "must be the path of a URL, such as /apple")
        }
        return path
    }

    private init(
        standard variables: (String) -> String?, _ words: ServiceWords
    ) throws(Diagnosis) {
        notifications = ListenerSettings(.tcp(host: "127.0.0.1", port: 8765))
        metrics = ListenerSettings(.tcp(host: "127.0.0.1", port: 9765))
        // systemd separates several folders by colons.
        let runtime = variables("RUNTIME_DIRECTORY").flatMap {
            $0.split(separator: ":").first.map(String.init)
        }
        let user = variables("XDG_RUNTIME_DIR").flatMap { $0.isEmpty ? nil : $0 + "/siwa" }
        guard let folder = runtime ?? user else {
            throw Diagnosis(
                .configuration,
                "server.api.listen is not set, and neither RUNTIME_DIRECTORY nor XDG_RUNTIME_DIR is",
                hints: Self.asService(words) + [
                    "set RUNTIME_DIRECTORY to a folder for the socket, or add \"server\": "
                        + "{\"api\": {\"listen\": \"unix:PATH\"}, …} to the configuration"
                ], exitCode: .settings)
        }
        api = ListenerSettings(standardFolder: folder)
    }

    /// The folder of what the server keeps between two runs.
    ///
    /// - Throws: ``Diagnosis`` if there is none.
    func stateFolder(
        vaultFile: String?, _ variables: (String) -> String?, words: ServiceWords = .none
    ) throws(Diagnosis) -> String {
        let folder = UnsavedTokens.folder(stateFolder, vaultFile: vaultFile, variables)
        guard let folder else {
            throw Diagnosis(
                .configuration,
                "server.state is not set, STATE_DIRECTORY neither, and the vault is not a file",
                hints: Self.asService(words) + [
                    "add \"server\": {\"state\": FOLDER, …}: a folder that survives a restart, for "
                        + "tokens that cannot be stored when the server ends"
                ], exitCode: .settings)
        }
        return folder
    }

    /// What the unit sets is missing, because the process is not the service.
    private static func asService(_ words: ServiceWords) -> [String] {
        words.isServiceOfOthers ? ["ask as the service: siwa-server check"] : []
    }

    /// What to tell the operator if no listener is opened; nil otherwise.
    var withoutListeners: String? {
        guard RouteTable.Listener.allCases.allSatisfy({ listener($0) == nil }) else { return nil }
        return "no listener is opened: 'server' has neither notifications nor api nor metrics"
    }

    /// Whether a setting differs that is read only at the start.
    func needsRestart(from old: ServerSettings) -> Bool {
        guard (delivery == nil) == (old.delivery == nil) else { return true }
        var same = old
        same.delivery = delivery
        // A reload reads another file of keys, too.
        if keySetFile != nil, old.keySetFile != nil { same.keySetFile = keySetFile }
        return self != same
    }

    /// What happens when a revocation ends whose caller polls it, and when the daily validation finds
    /// a token dead.
    var revocationEvents: RevocationEvents {
        guard announcesRevocations else { return .off }
        return delivery == nil ? .kept : .delivered
    }

    /// The settings of a listener; nil if it is not opened.
    func listener(_ listener: RouteTable.Listener) -> ListenerSettings? {
        switch listener {
        case .notifications: notifications
        case .api: api
        case .metrics: metrics
        }
    }
}

/// Where events are delivered.
struct DeliverySettings: Hashable, Sendable {
    /// The URL of the application.
    let target: DeliveryTarget
    /// The file of the secrets that sign.
    let secretFile: String
    /// The file of additional certificate authorities.
    let authorityFile: String?
    /// The most unfinished attempts.
    let maxInFlight: Int

    /// The members of `deliver`.
    static let names = [
        "url", "secret_file", "ca_file", "allow_http", "max_in_flight", "revocations",
    ]

    /// Reads `deliver`; nil if it has only `"revocations": true`, whose events are then pulled.
    init?(_ object: SettingsReader, resolve: (String) -> String) throws(Diagnosis) {
        if try object.flag("revocations") == true, object.has(only: "revocations") { return nil }
        let (url, allowsHTTP) = (
            try object.requiredText("url"), try object.flag("allow_http") ?? false
        )
        do {
            target = try DeliveryTarget(url, allowsHTTP: allowsHTTP)
        } catch {
            throw object.error("url", error.description)
        }
        secretFile = resolve(try object.requiredText("secret_file"))
        authorityFile = try object.text("ca_file").map(resolve)
        maxInFlight =
            try object.integer("max_in_flight", in: DeliveryPlaces.limits)
            ?? DeliveryPlaces.standardLimit
    }
}
