import AppleEmulator
import SignInWithApple
import TestSupport
import Testing

/// A stand on which users move from one team to the other.
struct Passage {
    enum Side { case sender, recipient }

    let stand: Stand

    init(_ switches: JSON = [:], accepted ago: String? = nil) async throws {
        stand = try await Stand(switches)
        if let ago { try await stand.control("transfer", ["ago": .string(ago)]) }
    }

    func secret(_ side: Side, _ client: String = Stand.app) throws -> String {
        let draft =
            side == .sender
            ? SecretDraft(client)
            : SecretDraft(
                client, of: Stand.recipient, under: Stand.recipientsKeyID, at: Stand.start)
        return try draft.minted(by: stand.key)
    }

    /// The team's own token.
    func bearer(_ side: Side, _ client: String = Stand.app) async throws -> String {
        let outcome = try await stand.token(
            [
                ("client_secret", try secret(side, client)), ("grant_type", "client_credentials"),
                ("scope", "user.migration"),
            ], as: client)
        return try outcome.text("access_token")
    }

    /// Asks about one user, with a bearer token of its own unless one is given.
    func ask(
        _ side: Side, _ parameters: [(String, String)], bearer: String? = nil,
        as client: String = Stand.app
    ) async throws -> Outcome {
        var token = bearer
        if token == nil { token = try await self.bearer(side, client) }
        return Outcome(
            await stand.post(
                "/auth/usermigrationinfo",
                [("client_id", client), ("client_secret", try secret(side, client))] + parameters,
                fields: [HTTPField("Authorization", "Bearer \(token ?? "")")]))
    }

    func export(
        _ name: String, to team: TeamID = Stand.recipient, bearer: String? = nil,
        as client: String = Stand.app
    ) async throws -> Outcome {
        try await ask(
            .sender, [("sub", try Self.userID(name)), ("target", team.rawValue)], bearer: bearer,
            as: client)
    }

    func admit(_ transferID: String, bearer: String? = nil) async throws -> Outcome {
        try await ask(.recipient, [("transfer_sub", transferID)], bearer: bearer)
    }

    static func userID(_ name: String) throws -> String {
        try #require(Stand.users.first { $0.name == name }).userID.rawValue
    }
}
