package import SIWALifecycle

/// The hints if Apple refuses every user of a migration.
package struct MigrationHints: Sendable {
    private let isExport: Bool
    private let client: Client

    /// Nil for any other request.
    package init?(_ request: RequestKind, _ client: Client) {
        guard [.migrationExport, .migrationImport].contains(request) else { return nil }
        isExport = request == .migrationExport
        self.client = client
    }

    /// The hints if all of the first hundred users were refused.
    var invalidRequest: [String] {
        let first = "Apple refused all of the first \(MigrationJob.mostRefusedAtFirst) users, and "
        return hints(first + "no results were recorded for them") + [Self.mayBeRight]
    }

    /// The hints if there were fewer users and all were refused.
    package var everyUserRefused: [String] {
        hints("Apple refused every user")
            + ["--resume skips refused users: to send them again, remove the output first"]
    }

    /// Apple gives the same error for a wrong user, a wrong team and a wrong time.
    private func hints(_ seen: String) -> [String] {
        isExport
            ? [
                "\(seen): check that they are user ids (the sub of identity tokens) of "
                    + "\(client.clientID) in team \(client.teamID)",
                "if the transfer was accepted 60 days ago or more, Apple no longer exports users",
            ]
            : [
                "\(seen): check that team \(client.teamID) has accepted the transfer of "
                    + "\(client.clientID), less than 60 days ago",
                "ask the old team whether it exported them with --to-team \(client.teamID): "
                    + "identifiers for another team cannot be imported",
            ]
    }

    var invalidGrant: [String] {
        [
            "Apple issued several bearer tokens and refused each: check that \(client.clientID) "
                + "is the app that is transferred; 'siwa doctor --online' requests such a token, too"
        ]
    }

    private static let mayBeRight =
        "if so many users at the beginning may have left the app, put other users first"
}
