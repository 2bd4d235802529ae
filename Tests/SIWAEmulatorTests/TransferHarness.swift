import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// An emulator in which users move from one team to the other.
struct TransferHarness {
    enum Side { case sender, recipient }

    let harness: EmulatorHarness

    init(_ switches: JSON = [:], accepted ago: String? = nil) async throws {
        harness = try await EmulatorHarness(switches)
        if let ago { try await harness.control("transfer", ["ago": .string(ago)]) }
    }

    func secret(_ side: Side, _ client: String = EmulatorHarness.app) throws -> String {
        let draft =
            side == .sender
            ? SecretDraft(client)
            : SecretDraft(
                client, of: EmulatorHarness.recipient, under: EmulatorHarness.recipientsKeyID,
                at: EmulatorHarness.start)
        return try draft.minted(by: harness.key)
    }

    /// The team's own token.
    func bearer(_ side: Side, _ client: String = EmulatorHarness.app) async throws -> String {
        let outcome = try await harness.token(
            [
                ("client_secret", try secret(side, client)), ("grant_type", "client_credentials"),
                ("scope", "user.migration"),
            ], as: client)
        return try outcome.text("access_token")
    }

    /// Asks about one user, with a bearer token of its own unless one is given.
    func ask(
        _ side: Side, _ parameters: [(String, String)], bearer: String? = nil,
        as client: String = EmulatorHarness.app
    ) async throws -> Outcome {
        var token = bearer
        if token == nil { token = try await self.bearer(side, client) }
        return Outcome(
            await harness.post(
                "/auth/usermigrationinfo",
                [("client_id", client), ("client_secret", try secret(side, client))] + parameters,
                fields: [HTTPField("Authorization", "Bearer \(token ?? "")")]))
    }

    func export(
        _ name: String, to team: TeamID = EmulatorHarness.recipient, bearer: String? = nil,
        as client: String = EmulatorHarness.app
    ) async throws -> Outcome {
        try await ask(
            .sender, [("sub", try Self.userID(name)), ("target", team.rawValue)], bearer: bearer,
            as: client)
    }

    func admit(_ transferID: String, bearer: String? = nil) async throws -> Outcome {
        try await ask(.recipient, [("transfer_sub", transferID)], bearer: bearer)
    }

    static func userID(_ name: String) throws -> String {
        try #require(EmulatorHarness.users.first { $0.name == name }).userID.rawValue
    }
}
