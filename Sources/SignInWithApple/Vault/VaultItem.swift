public import SIWACrypto

/// One line of what a vault takes in: a user, a token, and what became of it before.
public struct VaultItem: Sendable {
    /// What is to be kept. It is not sealed yet.
    public let record: VaultRecord
    /// The token.
    public let token: RefreshToken

    /// Reads a JSON object `{"client_id"?, "user_id", "refresh_token", "state"?, "stored_at"?,
    /// "changed_at"?, "checked_at"?}`, whose other members are passed over; times are RFC 3339
    /// or seconds since 1970.
    ///
    /// - Parameters:
    ///   - clientID: of a line that names none.
    ///   - now: when a line says that its token was stored, if it does not.
    /// - Throws: ``InvalidLine``.
    public init(
        _ text: SecretBytes, clientID: ClientID?, now: NumericDate
    ) throws(InvalidLine) {
        let line = try ItemLine(text)
        guard line.object != nil else { throw InvalidLine(nil, "the line is no JSON object") }
        guard let clientID = try line.clientID() ?? clientID else {
            throw InvalidLine(nil, "the line has no member 'client_id'")
        }
        let user = try Self.user(of: clientID, line)
        token = RefreshToken(try line.token(called: ["refresh_token", "token"]))
        let storedAt = try line.moment("stored_at") ?? now
        record = VaultRecord(
            user: user, state: try Self.state(line), keyNumber: 0, version: 0, sealed: [],
            storedAt: storedAt, changedAt: try line.moment("changed_at") ?? storedAt,
            checkedAt: try line.moment("checked_at"))
    }

    private static func user(
        of clientID: ClientID, _ line: ItemLine
    ) throws(InvalidLine) -> VaultUser {
        guard let userID = try line.text("user_id") else {
            throw InvalidLine(nil, "the line has no member 'user_id'")
        }
        do {
            return try VaultUser(clientID, validating: userID)
        } catch {
            throw InvalidLine(nil, "'user_id' \(error.fault)")
        }
    }

    private static func state(_ line: ItemLine) throws(InvalidLine) -> VaultState {
        guard let text = try line.text("state") else { return .active }
        guard let state = VaultState(rawValue: text) else {
            let names = VaultState.allCases.map(\.rawValue).joined(separator: ", ")
            throw InvalidLine(nil, "'state' is none of \(names)")
        }
        return state
    }
}

extension ItemLine {
    /// A moment that an item may have; null is none.
    func moment(_ name: String) throws(InvalidLine) -> NumericDate? {
        switch object?[name] {
        case nil, .null: return nil
        case .integer(let seconds) where Self.writable.contains(seconds):
            return NumericDate(seconds)
        case .string(let text): if let date = NumericDate(rfc3339: text) { return date }
        default: break
        }
        throw InvalidLine(id, "'\(name)' is no RFC 3339 time and no number of seconds")
    }

    /// What RFC 3339 can write; milliseconds of this century are far beyond.
    private static let writable = -62_167_219_200...253_402_300_799
}
