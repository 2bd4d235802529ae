internal import SIWAJOSE
internal import SIWALifecycle

// An encrypted record that is sorted before it is imported, as bytes whose order is the order of
// records.
extension VaultRecord {
    /// Client id, user id and fingerprint, separated by zero bytes, which no id contains.
    package var sortKey: [UInt8] {
        let (client, user) = (id.user.clientID.rawValue.utf8, id.user.userID.rawValue.utf8)
        let fingerprint = id.fingerprint.rawValue.utf8
        var bytes: [UInt8] = []
        bytes.reserveCapacity(client.count + user.count + fingerprint.count + 2)
        bytes += client
        bytes.append(0)
        bytes += user
        bytes.append(0)
        bytes += fingerprint
        return bytes
    }

    /// The part that ``init(sortKey:value:)`` needs besides the key.
    package var sortValue: [UInt8] {
        let numbers = [
            VaultState.allCases.firstIndex(of: state) ?? 0, keyNumber, storedAt.seconds,
            changedAt.seconds, checkedAt?.seconds ?? Int.min, signedInAt?.seconds ?? Int.min,
        ]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 * numbers.count + sealed.count)
        for number in numbers { bytes.append(bigEndian: number) }
        bytes += sealed
        return bytes
    }

    /// Reads ``sortKey`` and ``sortValue``; nil for other bytes.
    package init?(sortKey: [UInt8], value: [UInt8]) {
        guard let first = sortKey.firstIndex(of: 0), let last = sortKey.lastIndex(of: 0),
            value.count >= 48, let client = try? ClientID(validating: Self.text(sortKey[..<first])),
            first < last,
            let user = try? VaultUser(client, validating: Self.text(sortKey[(first + 1)..<last])),
            let fingerprint = TokenFingerprint(Self.text(sortKey[(last + 1)...]))
        else { return nil }
        let numbers = (0..<6).map { index in
            value[8 * index..<8 * index + 8].reduce(0) { $0 << 8 | Int($1) }
        }
        guard VaultState.allCases.indices.contains(numbers[0]) else { return nil }
        self.init(
            id: VaultRecordID(user, fingerprint), state: VaultState.allCases[numbers[0]],
            keyNumber: numbers[1], sealed: Array(value[48...]),
            storedAt: NumericDate(numbers[2]), signedInAt: Self.moment(numbers[5]),
            changedAt: NumericDate(numbers[3]), checkedAt: Self.moment(numbers[4]))
    }

    private static func moment(_ number: Int) -> NumericDate? {
        number == Int.min ? nil : NumericDate(number)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
