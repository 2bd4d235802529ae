internal import SignInWithApple

/// What a refusal means that stopped a migration: the same answer to everybody.
struct MigrationHints: Sendable {
    private let isExport: Bool
    private let client: Client

    /// Nil for any other request.
    init?(_ request: RequestKind, _ client: Client) {
        guard [.migrationExport, .migrationImport].contains(request) else { return nil }
        isExport = request == .migrationExport
        self.client = client
    }

    /// When none of the first hundred users got through.
    var invalidRequest: [String] {
        let first = "of the first \(MigrationJob.mostRefusedAtFirst) users none got through, and "
        return hints(first + "nothing was recorded of them") + [Self.mayBeRight]
    }

    /// When there were fewer, and none got through.
    var nobody: [String] {
        hints("nobody got through")
            + ["--resume passes over who was refused: to ask again, remove the output first"]
    }

    /// Apple says no more to a wrong user, a wrong team and a wrong moment.
    private func hints(_ seen: String) -> [String] {
        isExport
            ? [
                "\(seen): check that they are users of \(client.clientID) (the sub of its "
                    + "identity tokens), as team \(client.teamID) knows them",
                "if the transfer was accepted 60 days ago or more, Apple exports nobody any more",
            ]
            : [
                "\(seen): check that team \(client.teamID) has accepted the transfer of "
                    + "\(client.clientID), less than 60 days ago",
                "ask the old team whether it exported them with --to-team \(client.teamID): "
                    + "identifiers made for another team are of no use",
            ]
    }

    var invalidGrant: [String] {
        [
            "Apple gave several bearer tokens and refused each: check that \(client.clientID) "
                + "is the app that moves; 'siwa doctor --online' asks for such a token, too"
        ]
    }

    private static let mayBeRight =
        "if so many at the beginning may well have left the app, put users first who have not"
}
