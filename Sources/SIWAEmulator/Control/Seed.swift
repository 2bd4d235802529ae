internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The body of `POST /emulator/seed`: creates many users at once, all of them signed in.
struct Seed {
    /// The format of its answer.
    enum Format: String, CaseIterable, JSONConvertible {
        case json
        /// A JSON object per line, as `siwa vault import` reads them.
        case lines
    }

    let count: Int
    /// The number of refresh tokens of each user, for example one for each device.
    let tokens: Int
    let client: EmulatedClient

    init(json: JSON, in configuration: EmulatorConfiguration) throws(ShapeError) {
        let reader = try JSONObjectReader(
            json, knowing: ["users", "tokens", "client_id", "format"])
        count = try reader.required("users")
        tokens = try reader.optional("tokens") ?? 1
        client =
            try json["client_id"] == nil
            ? configuration.primaryClient() : reader.client(of: configuration)
        _ = try reader.optional("format", as: Format.self)
        guard (1...1_000_000).contains(count), (1...10).contains(tokens) else {
            throw ShapeError("", "'users' must be 1 to 1000000, and 'tokens' 1 to 10")
        }
    }
}

extension Service {
    /// Creates users `seed1`, `seed2` and so on, continuing after earlier seeds, and their
    /// sessions. Every second user hides the address.
    ///
    /// No identity token is signed, because each signature takes a millisecond.
    mutating func create(_ seed: Seed) throws(OpenSSLError) -> JSON {
        var rows: [JSON] = []
        rows.reserveCapacity(seed.count * seed.tokens)
        let first = users.users.count - users.configured + 1
        for number in first..<first + seed.count {
            let user = EmulatedUser(
                name: "seed\(number)", userID: EmulatedUser.newUserID(using: &random.users),
                email: "seed\(number)@example.com")
            guard users.add(user) else { continue }
            for _ in 0..<seed.tokens {
                rows.append(try createSession(of: user, number, seed.client))
            }
        }
        transferees = nil
        return ["users": .array(rows)]
    }

    private mutating func createSession(
        of user: EmulatedUser, _ number: Int, _ client: EmulatedClient
    ) throws(OpenSSLError) -> JSON {
        let sharing: EmailSharing = number.isMultiple(of: 2) ? .hidden : .shared
        let settled = ledger.consents.settle(
            user.userID, client.clientID, choosing: sharing, behaviors.laterEmail)
        let seen = try seen(user, settled.sharing, by: owner.teamID)
        let token = TokenText.new(
            .refresh, shard: try TokenText.shard(of: user.userID), using: &random.tokens)
        _ = ledger.open(
            Ledger.Session(
                clientID: client.clientID, teamID: owner.teamID, user: seen, nonce: nil,
                signedInAt: now(), lastUsedAt: now()),
            refreshToken: token)
        return [
            "user": .string(user.name), "client_id": client.clientID.json,
            "user_id": try subject(of: user).json, "refresh_token": .string(token),
        ]
    }
}

extension Page {
    /// The rows of a seed, one per line.
    static func lines(_ answer: JSON) -> Page {
        let rows = answer["users"]?.elements ?? []
        var body: [UInt8] = []
        for row in rows {
            body += row.bytes
            body.append(UInt8(ascii: "\n"))
        }
        return Page(
            status: 200, fields: [HTTPField("Content-Type", "application/x-ndjson")], body: body)
    }
}
