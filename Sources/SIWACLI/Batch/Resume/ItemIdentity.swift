internal import JOSE

/// Identifies an item of the input or of a result by hashes with a random key of this process,
/// which reveal neither id nor fingerprint.
struct ItemIdentity: Sendable {
    /// Nil for an item without an id.
    let id: UInt64?
    /// The hash of the token's fingerprint; nil for an item without a token, and in results of siwa
    /// 0.1.
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

    /// The comparison of a result with a line of the input.
    enum Comparison: Sendable {
        case same
        case different
        /// The result has neither an id nor a fingerprint.
        case incomparable
    }

    /// Compares with the current item of the line; nil if the line is not an item.
    func compared(with line: ItemIdentity?) -> Comparison {
        guard case .item(let result) = self else { return .same }
        guard result.id != nil || result.fingerprint != nil else { return .incomparable }
        guard let line, result.id == line.id else { return .different }
        return result.fingerprint == nil || result.fingerprint == line.fingerprint
            ? .same : .different
    }

    /// Whether both can be results of the same item.
    func agrees(with other: Self) -> Bool {
        switch (self, other) {
        case (.invalid, _), (_, .invalid): true
        case (.item(let one), .item(let two)):
            one.id == two.id && one.client == two.client
                && (one.fingerprint == nil || two.fingerprint == nil
                    || one.fingerprint == two.fingerprint)
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
