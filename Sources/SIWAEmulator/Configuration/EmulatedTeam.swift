internal import SIWAJOSE
package import SIWALifecycle

/// A developer team: its identifier and its keys.
package struct EmulatedTeam: Sendable {
    /// `iss` of its client_secrets.
    package let teamID: TeamID
    /// The public halves of its keys.
    package let keys: [EmulatedKey]

    /// Registers a team.
    package init(teamID: TeamID, keys: [EmulatedKey]) {
        self.teamID = teamID
        self.keys = keys
    }

    func key(_ name: String) -> EmulatedKey? {
        keys.first { $0.keyID.rawValue.isExactly(name) }
    }
}

extension EmulatedTeam {
    init(_ json: JSON, at place: String) throws(ShapeError) {
        let reader = try JSONObjectReader(json, at: place, knowing: ["team_id", "keys"])
        self.init(
            teamID: try reader.required("team_id"),
            keys: try reader.elements("keys").map { entry throws(ShapeError) in
                try EmulatedKey(entry.json, at: entry.place)
            })
    }

    var json: JSON { ["team_id": teamID.json, "keys": .array(keys.map(\.json))] }
}
