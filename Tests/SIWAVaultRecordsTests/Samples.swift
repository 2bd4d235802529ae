import SIWAJOSE
import SIWALifecycle
import SIWAVaultRecords

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

extension TokenFingerprint {
    /// Fingerprint `number` of many.
    static func sample(_ number: Int = 0) -> Self {
        let digits = String(number, radix: 16)
        let zeros = String(repeating: "0", count: max(0, 12 - digits.count))
        return TokenFingerprint(zeros + digits) ?? sample()
    }
}

extension VaultRecord {
    /// - Parameter number: tells records apart that are otherwise equal.
    init(
        _ user: VaultUser, _ state: VaultState = .active, token: Int = 0, key: Int = 1,
        number: Int = 0, sealed: [UInt8] = [7, 0, 7], checkedAt: Int? = nil
    ) {
        self.init(
            id: VaultRecordID(user, .sample(token)), state: state, keyNumber: key, sealed: sealed,
            storedAt: NumericDate(1_700_000_000 + number), changedAt: NumericDate(1_700_000_001),
            checkedAt: checkedAt.map { NumericDate($0) })
    }

    /// What tells records apart.
    var number: Int { storedAt.seconds - 1_700_000_000 }

    /// The same in another state.
    func becoming(_ state: VaultState) -> Self {
        var next = self
        next.state = state
        return next
    }
}

extension Lease {
    /// Longer than any test.
    static func long(_ owner: String) -> Self { Self(owner: owner, duration: .seconds(3600)) }
    static func short(_ owner: String) -> Self { Self(owner: owner, duration: .seconds(1)) }
}

/// The change of a user's only record.
enum Decision {
    case keep
    case put(VaultRecord)
    case remove
}

extension VaultStore {
    /// Decides about users with one record each, one after the other.
    ///
    /// - Parameter owner: whose leases on their records end.
    func change(
        _ users: [VaultUser], releasedBy owner: String?,
        _ decide: (VaultUser, VaultRecord?) throws(StoreError) -> Decision
    ) throws(StoreError) {
        let ids = Set(users.map { VaultRecordID($0, .sample()) })
        try change(
            .users(users),
            releasing: owner.map { VaultRelease(owner: $0, rows: Set(ids.map { VaultRowKey($0) })) }
        ) {
            page throws(StoreError) in
            let before = Dictionary(
                page.records.map { ($0.user, $0) }, uniquingKeysWith: { first, _ in first })
            var after = before
            for user in users {
                switch try decide(user, after[user]) {
                case .keep: break
                case .put(let record): after[user] = record
                case .remove: after[user] = nil
                }
            }
            let changed = after.values.filter { $0 != before[$0.user] }
            return VaultChanges(
                updates: changed.map { VaultUpdate($0, replacing: before[$0.user]?.id) },
                removals: before.values.filter { after[$0.user] == nil }.map {
                    VaultRowKey($0.id)
                })
        }
    }

    /// Stores records, as they are.
    func put(_ records: [VaultRecord]) throws(StoreError) {
        try change(.users(records.map(\.user)), releasing: nil) { page in
            let known = Set(page.records.map(\.id))
            return VaultChanges(
                updates: records.map {
                    VaultUpdate($0, replacing: known.contains($0.id) ? $0.id : nil)
                })
        }
    }

    /// Stores records of the first key, and then, once there is a second one, of that.
    func putOfTwoKeys(_ records: [VaultRecord]) throws(StoreError) {
        try put(records.filter { $0.keyNumber == 1 })
        try register(.second)
        try put(records.filter { $0.keyNumber != 1 })
    }

    /// The first record of a user.
    func record(of user: VaultUser) throws(StoreError) -> VaultRecord? {
        try records(of: [user]).records.first
    }

    /// All records that a filter selects.
    func all(_ filter: VaultFilter = VaultFilter()) throws(StoreError) -> [VaultRecord] {
        try records(filter, after: nil, limit: 1_000_000).records
    }

    /// Claims without changing anything.
    func claimed(
        _ lease: Lease, _ filter: VaultFilter = VaultFilter(), limit: Int = 1_000_000
    ) throws(StoreError) -> VaultClaimed {
        try claim(filter, limit: limit, for: lease) { VaultClaimChange($0) }
    }

    /// Claims without changing anything; the users.
    func claim(
        _ lease: Lease, _ filter: VaultFilter = VaultFilter(), limit: Int = 1_000_000
    ) throws(StoreError) -> [VaultUser] {
        try claimed(lease, filter, limit: limit).records.map(\.user)
    }

    /// Returns records.
    func release(_ users: [VaultUser], by owner: String) throws(StoreError) {
        try change(users, releasedBy: owner) { _, _ in .keep }
    }
}
