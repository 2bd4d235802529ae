/// Where the records of a vault lie: a database, or a test's memory.
///
/// It keeps sealed tokens and never sees a key. Every call is one transaction: it happened and is
/// on disk, or it did not happen. Calls may come from several threads, and block.
public protocol VaultStore: Sendable {
    /// Makes an empty vault.
    ///
    /// - Parameter key: of its first key, by which later runs know it.
    /// - Throws: ``VaultError`` of kind `alreadyInitialized` when there is one.
    func create(_ key: VaultKeyCheck) throws(VaultError)

    /// What the keys in use are known by, the lowest number first. Brings the tables up to date.
    ///
    /// - Throws: ``VaultError`` of kind `notInitialized` when there is no vault.
    func keyChecks() throws(VaultError) -> [VaultKeyCheck]

    /// Adds a key, with which tokens are sealed from now on. One that is there is left alone.
    func register(_ key: VaultKeyCheck) throws(VaultError)

    /// The record of a user; nil when there is none.
    func record(of user: VaultUser) throws(VaultError) -> VaultRecord?

    /// Up to `limit` records in their order, from behind `user` on.
    func records(
        _ filter: VaultFilter, after user: VaultUser?, limit: Int
    ) throws(VaultError) -> [VaultRecord]

    /// How many records there are of each state, of one client or of all.
    func counts(of clientID: ClientID?) throws(VaultError) -> [VaultState: Int]

    /// Decides about users one after the other, nobody else changing them meanwhile; all of it
    /// is one transaction, of which nothing is left when a decision throws.
    ///
    /// - Parameters:
    ///   - owner: gives back what this owner claimed of them.
    ///   - decide: from the record as it is. May be asked again about all of them, when the
    ///     connection broke.
    /// - Throws: ``VaultError``, of kind `keySuperseded` when a token was sealed with another key
    ///   than the newest: who makes a key relies on nothing being sealed with older ones.
    func change(
        _ users: [VaultUser], releasedBy owner: String?,
        _ decide: (VaultUser, VaultRecord?) throws(VaultError) -> VaultChange
    ) throws(VaultError)

    /// Takes up to `limit` records that nobody holds, changes them and keeps them from others.
    /// What this owner held before is not among them, nor what others gave back since its first
    /// claim: the turn of those is over in this run.
    ///
    /// - Returns: the records as they were before the change.
    func claim(
        _ filter: VaultFilter, limit: Int, for lease: VaultLease,
        _ change: (VaultRecord) -> VaultRecord
    ) throws(VaultError) -> [VaultRecord]

    /// What is wrong with the database itself, a sentence each.
    func faults() throws(VaultError) -> [String]

    /// What protects the connection to the database less than siwa's default does, a sentence
    /// each. Does not connect.
    func weaknesses() throws(VaultError) -> [String]
}

extension VaultStore {
    /// A store that needs no connection has none.
    public func weaknesses() throws(VaultError) -> [String] { [] }

    /// Takes a record out; no key is needed.
    ///
    /// - Returns: what it was; nil when there was none.
    public func remove(_ user: VaultUser) throws(VaultError) -> VaultRecord? {
        var removed: VaultRecord?
        try change([user], releasedBy: nil) { _, before in
            removed = before
            return before == nil ? .keep : .remove
        }
        return removed
    }

    /// The clients that have records, in their order: one look at each.
    public func clients() throws(VaultError) -> [ClientID] {
        var clients: [ClientID] = []
        while let next = try records(
            VaultFilter(), after: clients.last.map(VaultUser.behindAll(of:)), limit: 1
        ).first?.user.clientID, next != clients.last {
            clients.append(next)
        }
        return clients
    }
}

/// What is to become of a record.
public enum VaultChange: Hashable, Sendable {
    /// It stays as it is, or absent.
    case keep
    /// It becomes this one.
    case put(VaultRecord)
    /// It goes.
    case remove
}

/// Which records.
public struct VaultFilter: Hashable, Sendable {
    /// Of one client; nil for all.
    public var clientID: ClientID?
    /// In one of these states; all when empty.
    public var states: [VaultState]
    /// Whose last check lies before this moment, or that were never checked.
    public var notCheckedSince: NumericDate?
    /// Sealed with another key than this one.
    public var keyOtherThan: Int?

    /// Chooses records.
    public init(
        clientID: ClientID? = nil, states: [VaultState] = [], notCheckedSince: NumericDate? = nil,
        keyOtherThan: Int? = nil
    ) {
        (self.clientID, self.states) = (clientID, states)
        (self.notCheckedSince, self.keyOtherThan) = (notCheckedSince, keyOtherThan)
    }

    /// Whether a record is one of them.
    public func matches(_ record: VaultRecord) -> Bool {
        (clientID == nil || record.user.clientID == clientID)
            && (states.isEmpty || states.contains(record.state))
            && (notCheckedSince.map { moment in record.checkedAt.map { $0 < moment } ?? true }
                ?? true)
            && record.keyNumber != keyOtherThan
    }
}

/// Who holds claimed records, and for how long: by the database's clock, so that machines whose
/// clocks differ agree. When it is over, others may claim them.
public struct VaultLease: Hashable, Sendable {
    /// One run of one process.
    public let owner: String
    /// Whole seconds.
    public let duration: Duration

    /// A lease of `duration` for `owner`.
    public init(owner: String, duration: Duration) {
        (self.owner, self.duration) = (owner, duration)
    }
}

/// What tells the right key from a wrong one without opening a record.
public struct VaultKeyCheck: Hashable, Sendable {
    /// The key's number, from 1.
    public let number: Int
    /// An empty text, sealed.
    public let sealed: [UInt8]

    /// What a database holds of a key.
    public init(number: Int, sealed: [UInt8]) { (self.number, self.sealed) = (number, sealed) }
}
