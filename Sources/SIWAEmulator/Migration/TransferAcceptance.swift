internal import SIWAJOSE
internal import SIWALifecycle

/// The body of `POST /emulator/transfer`: the recipient accepts the clients.
struct TransferAcceptance {
    /// How long ago the recipient accepted.
    let age: Duration

    init(json: JSON) throws(ShapeError) {
        age = try JSONObjectReader(json, knowing: ["ago"]).optional("ago") ?? .zero
        guard age >= .zero else { throw ShapeError("", "'ago' must not be negative") }
    }
}

extension Service {
    /// Transfers the clients to the recipient.
    mutating func accept(_ acceptance: TransferAcceptance) throws(ShapeError) -> JSON {
        guard let recipient = configuration.recipient else {
            throw ShapeError("", "emulator.json names no 'recipient' that could accept the clients")
        }
        let moment = now() - acceptance.age
        acceptedAt = moment
        return [
            "team_id": recipient.teamID.json, "accepted_at": .string(moment.rfc3339),
            "ends_at": .string((migrationEnd ?? moment).rfc3339),
        ]
    }
}
