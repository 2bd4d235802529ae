import SignInWithApple

extension VaultKeyCheck {
    static let first = VaultKeyCheck(number: 1, sealed: [1, 0, 255])
    static let second = VaultKeyCheck(number: 2, sealed: [2])
}

extension VaultUser {
    init(_ client: String, _ user: String) {
        self.init(ClientID(unchecked: client), UserID(unchecked: user))
    }

    /// User `number` of a client.
    static func sample(_ number: Int, of client: String = "com.example.app") -> Self {
        let digits = String(number)
        return Self(client, "u" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits)
    }

    static func samples(_ count: Int) -> [Self] { (0..<count).map { sample($0) } }
}

extension VaultRecord {
    init(
        _ user: VaultUser, _ state: VaultState = .active, key: Int = 1, version: Int = 1,
        sealed: [UInt8] = [7, 0, 7], checkedAt: Int? = nil
    ) {
        self.init(
            user: user, state: state, keyNumber: key, version: version, sealed: sealed,
            storedAt: NumericDate(1_700_000_000), changedAt: NumericDate(1_700_000_001),
            checkedAt: checkedAt.map { NumericDate($0) })
    }

    /// The same in another state.
    func becoming(_ state: VaultState) -> Self {
        var next = self
        next.state = state
        return next
    }
}

extension VaultLease {
    /// Longer than any test.
    static func long(_ owner: String) -> Self { Self(owner: owner, duration: .seconds(3600)) }
    static func short(_ owner: String) -> Self { Self(owner: owner, duration: .seconds(1)) }
}

extension VaultStore {
    /// Stores records, as they are.
    func put(_ records: [VaultRecord]) throws(VaultError) {
        let wanted = Dictionary(records.map { ($0.user, $0) }, uniquingKeysWith: { $1 })
        try change(records.map(\.user), releasedBy: nil) { user, _ in
            wanted[user].map(VaultChange.put) ?? .keep
        }
    }

    /// Stores records of the first key, and then, once there is a second one, of that.
    func putOfTwoKeys(_ records: [VaultRecord]) throws(VaultError) {
        try put(records.filter { $0.keyNumber == 1 })
        try register(.second)
        try put(records.filter { $0.keyNumber != 1 })
    }

    /// All records that a filter chooses.
    func all(_ filter: VaultFilter = VaultFilter()) throws(VaultError) -> [VaultRecord] {
        try records(filter, after: nil, limit: 1_000_000)
    }

    /// Claims without changing anything; the users.
    func claim(
        _ lease: VaultLease, _ filter: VaultFilter = VaultFilter(), limit: Int = 1_000_000
    ) throws(VaultError) -> [VaultUser] {
        try claim(filter, limit: limit, for: lease) { $0 }.map(\.user)
    }

    /// Gives records back.
    func release(_ users: [VaultUser], by owner: String) throws(VaultError) {
        try change(users, releasedBy: owner) { _, _ in .keep }
    }
}
