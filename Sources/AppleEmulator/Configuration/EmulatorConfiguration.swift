public import SignInWithApple

/// What the emulated Apple knows from the start: `emulator.json`.
public struct EmulatorConfiguration: Sendable {
    /// The one team.
    public let teamID: TeamID
    /// Its apps and websites.
    public let clients: [EmulatedClient]
    /// The public halves of its keys.
    public let keys: [EmulatedKey]
    /// The people who sign in; the first one is the default.
    public let users: [EmulatedUser]
    /// How Apple behaves where that is not certain.
    public let switches: Switches

    /// Composes a configuration.
    public init(
        teamID: TeamID, clients: [EmulatedClient], keys: [EmulatedKey], users: [EmulatedUser],
        switches: Switches = Switches()
    ) {
        self.teamID = teamID
        self.clients = clients
        self.keys = keys
        self.users = users
        self.switches = switches
    }

    func client(_ name: String) -> EmulatedClient? {
        clients.first { $0.clientID.rawValue.isExactly(name) }
    }

    func key(_ name: String) -> EmulatedKey? {
        keys.first { $0.keyID.rawValue.isExactly(name) }
    }

    /// The user called `name`, or the first one.
    func user(_ name: String?) -> EmulatedUser? {
        guard let name else { return users.first }
        return users.first { $0.name == name }
    }
}

extension EmulatorConfiguration {
    /// Reads what ``json`` writes.
    ///
    /// - Throws: ``ShapeError``, which names the member at fault.
    public init(json: JSON) throws(ShapeError) {
        let reader = try MemberReader(
            json, knowing: ["team_id", "clients", "keys", "users", "switches"])
        var switches = Switches()
        if let initial = json["switches"] { try switches.turn(initial) }
        self.init(
            teamID: try reader.required("team_id"),
            clients: try reader.elements("clients").map { entry throws(ShapeError) in
                try EmulatedClient(entry.json, at: entry.place)
            },
            keys: try reader.elements("keys").map { entry throws(ShapeError) in
                try EmulatedKey(entry.json, at: entry.place)
            },
            users: try reader.members("users").map { entry throws(ShapeError) in
                try EmulatedUser(entry.member, at: entry.place)
            },
            switches: switches)
    }

    /// The configuration as `emulator.json` holds it, switches left at their defaults.
    public var json: JSON {
        [
            "team_id": teamID.json, "clients": .array(clients.map(\.json)),
            "keys": .array(keys.map(\.json)),
            "users": .object(users.map { JSON.Member($0.name, $0.json) }),
        ]
    }
}
