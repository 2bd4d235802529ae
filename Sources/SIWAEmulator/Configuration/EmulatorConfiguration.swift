package import SIWAJOSE
package import SIWALifecycle

/// What the emulated Apple knows from the start: `emulator.json`.
package struct EmulatorConfiguration: Sendable {
    /// The team that all clients belong to, until a transfer to ``recipient`` is accepted.
    package let team: EmulatedTeam
    /// Its apps and websites.
    package let clients: [EmulatedClient]
    /// The team that the clients can be transferred to.
    package let recipient: EmulatedTeam?
    /// The users; the first one is the default.
    package let users: [EmulatedUser]
    /// Where notifications are posted unless another address is named; nil disables posting.
    package let notificationURL: String?
    /// How Apple behaves where recordings disagree or are silent.
    package let behaviors: Behaviors

    /// Composes a configuration.
    package init(
        teamID: TeamID, clients: [EmulatedClient], keys: [EmulatedKey], users: [EmulatedUser],
        behaviors: Behaviors = Behaviors(), recipient: EmulatedTeam? = nil,
        notificationURL: String? = nil
    ) {
        team = EmulatedTeam(teamID: teamID, keys: keys)
        self.clients = clients
        self.recipient = recipient
        self.users = users
        self.behaviors = behaviors
        self.notificationURL = notificationURL
    }

    func client(_ name: String) -> EmulatedClient? {
        clients.first { $0.clientID.rawValue.isExactly(name) }
    }

    /// The team, and the recipient if there is one.
    var teams: [EmulatedTeam] { [team] + (recipient.map { [$0] } ?? []) }
}

extension EmulatorConfiguration {
    /// Reads what ``json`` writes.
    ///
    /// - Throws: ``ShapeError``, which names the member at fault.
    package init(json: JSON) throws(ShapeError) {
        let reader = try JSONObjectReader(
            json,
            knowing: [
                "team_id", "clients", "keys", "recipient", "users", "switches", "notification_url",
            ])
        var behaviors = Behaviors()
        if let initial = json["switches"] { try behaviors.set(initial) }
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
            behaviors: behaviors,
            recipient: try json["recipient"].map { entry throws(ShapeError) in
                try EmulatedTeam(entry, at: "recipient")
            },
            notificationURL: try reader.loopbackURL("notification_url"))
    }

    /// The configuration as `emulator.json` contains it, without the switches.
    package var json: JSON {
        let members = [
            JSON.Member("team_id", team.teamID.json),
            JSON.Member("clients", .array(clients.map(\.json))),
            JSON.Member("keys", .array(team.keys.map(\.json))),
        ]
        let url = notificationURL.map { [JSON.Member("notification_url", .string($0))] } ?? []
        let people = JSON.Member("users", .object(users.map { JSON.Member($0.name, $0.json) }))
        return .object(
            members + (recipient.map { [JSON.Member("recipient", $0.json)] } ?? []) + url + [people]
        )
    }
}
