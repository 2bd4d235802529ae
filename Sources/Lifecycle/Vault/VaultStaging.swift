internal import JOSE

// An encrypted record that is sorted before it is imported, as bytes whose order is the order of
// records.
extension VaultRecord {
    /// Client id, user id and fingerprint, separated by zero bytes, which no id contains.
    package var sortKey: [UInt8] {
        let key = VaultRowKey(id)
        var bytes = key.clientID
        bytes.reserveCapacity(bytes.count + key.userID.count + key.fingerprint.count + 2)
        bytes.append(0)
        bytes += key.userID
        bytes.append(0)
        bytes += key.fingerprint
        return bytes
    }

    /// The part that ``init(sortKey:value:)`` needs besides the key.
    package var sortValue: [UInt8] {
        let numbers = [
            VaultState.allCases.firstIndex(of: state) ?? 0, keyNumber, storedAt.seconds,
            changedAt.seconds, checkedAt?.seconds ?? Int.min,
        ]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 * numbers.count + sealed.count)
        for number in numbers {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> shift))
            }
        }
        return bytes + sealed
    }

    /// Reads ``sortKey`` and ``sortValue``; nil for other bytes.
    package init?(sortKey: [UInt8], value: [UInt8]) {
        let parts = sortKey.split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 3, value.count >= 40, let client = try? ClientID(validating: parts[0]),
            let user = try? VaultUser(client, validating: parts[1]),
            let fingerprint = TokenFingerprint(parts[2])
        else { return nil }
        let numbers = (0..<5).map { index in
            value[8 * index..<8 * index + 8].reduce(0) { $0 << 8 | Int($1) }
        }
        guard VaultState.allCases.indices.contains(numbers[0]) else { return nil }
        self.init(
            id: VaultRecordID(user, fingerprint), state: VaultState.allCases[numbers[0]],
            keyNumber: numbers[1], sealed: Array(value[40...]),
            storedAt: NumericDate(numbers[2]), changedAt: NumericDate(numbers[3]),
            checkedAt: numbers[4] == Int.min ? nil : NumericDate(numbers[4]))
    }
}
