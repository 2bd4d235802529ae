internal import JOSE
internal import Lifecycle
internal import ServerRecords

/// A row with untrusted values, each of which is checked when it is read.
struct CheckedRow {
    private let values: [Value]
    private var index = 0

    init(_ values: [Value]) { self.values = values }

    /// The value of the next column.
    mutating func next() throws(DamagedColumn) -> Value {
        guard index < values.count else { throw DamagedColumn("columns are missing") }
        defer { index += 1 }
        return values[index]
    }

    mutating func text(_ column: String) throws(DamagedColumn) -> String {
        guard let text = try next().text else {
            throw DamagedColumn("its \(column) is not UTF-8")
        }
        return text
    }

    mutating func optionalText(_ column: String) throws(DamagedColumn) -> String? {
        let value = try next()
        guard value != .null else { return nil }
        guard let text = value.text else { throw DamagedColumn("its \(column) is not UTF-8") }
        return text
    }

    mutating func bytes(_ column: String) throws(DamagedColumn) -> [UInt8] {
        guard let bytes = try next().bytes else { throw DamagedColumn("it has no \(column)") }
        return bytes
    }

    mutating func optionalBytes(_ column: String) throws(DamagedColumn) -> [UInt8]? {
        let value = try next()
        return value == .null ? nil : value.bytes
    }

    mutating func integer(
        _ column: String, in range: ClosedRange<Int>
    ) throws(DamagedColumn) -> Int {
        guard let integer = try next().integer, range.contains(integer) else {
            throw DamagedColumn("its \(column) is out of range")
        }
        return integer
    }

    mutating func optionalInteger(
        _ column: String, in range: ClosedRange<Int>
    ) throws(DamagedColumn) -> Int? {
        let value = try next()
        guard value != .null else { return nil }
        guard let integer = value.integer, range.contains(integer) else {
            throw DamagedColumn("its \(column) is out of range")
        }
        return integer
    }

    mutating func date(_ column: String) throws(DamagedColumn) -> NumericDate {
        try next().date(column)
    }

    mutating func optionalDate(_ column: String) throws(DamagedColumn) -> NumericDate? {
        let value = try next()
        return value == .null ? nil : try value.date(column)
    }

    /// A time that is stored in milliseconds.
    mutating func optionalMoment(_ column: String) throws(DamagedColumn) -> NumericDate? {
        let value = try next()
        guard value != .null else { return nil }
        guard let milliseconds = value.integer else {
            throw DamagedColumn("its \(column) is out of range")
        }
        return try Value.integer(milliseconds / 1000).date(column)
    }

    /// An age in milliseconds, which is never negative.
    mutating func age() throws(DamagedColumn) -> Duration {
        .milliseconds(max(try next().integer ?? 0, 0))
    }

    /// A value of an enumeration.
    mutating func known<Known: RawRepresentable<String>>(
        _ column: String
    ) throws(DamagedColumn) -> Known {
        guard let known = try next().text.flatMap(Known.init) else {
            throw DamagedColumn("its \(column) is unknown")
        }
        return known
    }

    mutating func user() throws(DamagedColumn) -> VaultUser {
        let client = try next()
        return try VaultUser(client, try next())
    }

    mutating func clientID() throws(DamagedColumn) -> ClientID {
        try Self.clientID(text("client_id"))
    }

    mutating func optionalClientID() throws(DamagedColumn) -> ClientID? {
        guard let text = try optionalText("client_id") else { return nil }
        return try Self.clientID(text)
    }

    private static func clientID(_ text: String) throws(DamagedColumn) -> ClientID {
        do {
            return try ClientID(validating: text)
        } catch {
            throw DamagedColumn("its client_id \(error.fault)")
        }
    }

    mutating func optionalUserID() throws(DamagedColumn) -> UserID? {
        guard let text = try optionalText("user_id") else { return nil }
        do {
            return try UserID(validating: text)
        } catch {
            throw DamagedColumn("its user_id \(error.fault)")
        }
    }

    mutating func fingerprint() throws(DamagedColumn) -> TokenFingerprint {
        guard let fingerprint = TokenFingerprint(try text("token_fingerprint")) else {
            throw DamagedColumn("its token_fingerprint is not 12 hexadecimal digits")
        }
        return fingerprint
    }

    mutating func eventID() throws(DamagedColumn) -> EventID {
        guard let id = EventID(try text("jti")) else {
            throw DamagedColumn("its jti is not 1 to 255 visible ASCII characters")
        }
        return id
    }

    /// A sealed secret: the number of its key, and its bytes.
    mutating func optionalSecret() throws(DamagedColumn) -> SealedSecret? {
        let number = try optionalInteger("key_number", in: VaultKeyRing.possibleNumbers)
        let bytes = try optionalBytes("sealed secret")
        guard let number, let bytes else { return nil }
        return SealedSecret(keyNumber: number, bytes: bytes)
    }
}

extension ClosedRange<Int> {
    /// The possible numbers of attempts.
    static let attempts = 0...Int(Int32.max)
    /// The possible positions of the inbox, of which cursors have 56 bits, and numbers of jobs.
    static let positions = 0...((1 << 56) - 1)
    /// The possible HTTP statuses.
    static let statuses = 100...999
}
