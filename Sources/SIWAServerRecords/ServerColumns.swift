internal import SIWADatabases
internal import SIWALifecycle
internal import SIWAVaultRecords

extension CheckedRow {
    mutating func eventID() throws(DamagedColumn) -> EventID {
        guard let id = EventID(try text("jti")) else {
            throw DamagedColumn("its jti is not 1 to 255 visible ASCII characters")
        }
        return id
    }
}

extension ClosedRange<Int> {
    /// The possible numbers of attempts.
    static let attempts = 0...Int(Int32.max)
    /// The possible positions of the inbox, of which cursors have 56 bits, and numbers of jobs.
    static let positions = 0...((1 << 56) - 1)
}
