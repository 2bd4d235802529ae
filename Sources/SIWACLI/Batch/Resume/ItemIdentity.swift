internal import SIWAApplication
internal import SIWAJOSE

/// Identifies an item of the input or of a result by hashes with a random key of this process,
/// which reveal neither id nor fingerprint.
struct ItemIdentity: Sendable, Equatable {
    /// Nil for an item without an id.
    let id: UInt64?
    /// The hash of the token's fingerprint; nil for an item without a token.
    let fingerprint: UInt64?
    /// The number of a result's client in ``OriginClients``.
    let client: Int

    init(id: JSON?, fingerprint: String?, client: Int = 0) {
        self.id = id.map { Self.hash($0) }
        self.fingerprint = fingerprint.map { Self.hash($0) }
        self.client = client
    }

    fileprivate init(id: UInt64?, fingerprint: UInt64?, client: Int) {
        (self.id, self.fingerprint, self.client) = (id, fingerprint, client)
    }

    /// The lowest twenty bits are used by ``EarlierResult``.
    private static func hash(_ value: some Hashable) -> UInt64 {
        UInt64(bitPattern: Int64(value.hashValue)) & ~0xF_FFFF
    }
}

/// The earlier result of a line of the input.
enum EarlierResult: Sendable {
    /// The line was invalid.
    case invalid
    /// The line was this item.
    case item(ItemIdentity)

    /// Whether this can be the result of a line's current item, whatever its client; nil if the
    /// line is not an item.
    func isResult(of line: ItemIdentity?) -> Bool {
        guard case .item(let result) = self else { return true }
        return line.map { $0.id == result.id && $0.fingerprint == result.fingerprint } ?? false
    }

    /// Whether both can be results of the same item.
    func agrees(with other: Self) -> Bool {
        switch (self, other) {
        case (.invalid, _), (_, .invalid): true
        case (.item(let one), .item(let two)): one == two
        }
    }

    // How a slot of a SlotStore holds it: zero is not a result.

    init?(slot: SIMD2<UInt64>) {
        switch slot.x & Self.kinds {
        case Self.invalidKind: self = .invalid
        case Self.itemKind:
            self = .item(
                ItemIdentity(
                    id: slot.x & Self.isPresent == 0 ? nil : slot.x & ~0xF_FFFF,
                    fingerprint: slot.y & Self.isPresent == 0 ? nil : slot.y & ~0xF_FFFF,
                    client: Int(slot.y >> 4 & 0xFFFF)))
        default: return nil
        }
    }

    var slot: SIMD2<UInt64> {
        switch self {
        case .invalid: SIMD2(Self.invalidKind, 0)
        case .item(let item):
            SIMD2(
                Self.itemKind | (item.id.map { $0 | Self.isPresent } ?? 0),
                (item.fingerprint.map { $0 | Self.isPresent } ?? 0)
                    | UInt64(item.client & 0xFFFF) << 4)
        }
    }

    private static let invalidKind: UInt64 = 1
    private static let itemKind: UInt64 = 2
    private static let kinds: UInt64 = 3
    private static let isPresent: UInt64 = 4
}
