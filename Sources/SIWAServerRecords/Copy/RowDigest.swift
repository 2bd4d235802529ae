internal import SIWACrypto
internal import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// A hash of rows in their order: of each row and the hash before it.
struct RowDigest: Equatable {
    private(set) var rows = 0
    private var hash = [UInt8](repeating: 0, count: 32)

    /// Adds rows.
    ///
    /// - Throws: ``StoreError`` of kind `unavailable` if the system's policy disables SHA-256.
    mutating func add(_ rows: [[Value]]) throws(StoreError) {
        for row in rows {
            var bytes = hash
            for value in row { Self.append(value, to: &bytes) }
            do throws(OpenSSLError) {
                hash = try SHA256.digest(bytes.span)
            } catch {
                throw StoreError(.unavailable, "SHA-256 is not available: \(error)")
            }
            self.rows += 1
        }
    }

    /// Each value has its type and length before it, so that no two rows have the same bytes. A
    /// text has its bytes, whether they are UTF-8 or not.
    private static func append(_ value: Value, to bytes: inout [UInt8]) {
        let (type, contents): (UInt8, [UInt8]) =
            switch value {
            case .null, .array: (0, [])
            case .integer(let number): (1, bigEndian(number))
            case .text, .invalidText: (2, value.textBytes)
            case .bytes(let contents): (3, contents)
            }
        bytes.append(type)
        bytes += bigEndian(contents.count)
        bytes += contents
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    /// A table with this hash.
    func copy(of table: CopiedTable) -> VaultTableCopy {
        VaultTableCopy(table: table.name, rows: rows, digest: hash.hexadecimal)
    }
}
