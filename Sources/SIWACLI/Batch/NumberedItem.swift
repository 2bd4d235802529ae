internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle

/// An item of a batch that its result can be matched with.
protocol NumberedItem: Sendable {
    /// The number of its line, from 1.
    var line: Int { get }
    /// The id, which must be unique in the input; nil for an item without an id.
    var id: JSON? { get }
    /// Its ids in the result.
    var name: ItemName { get }
    /// The fingerprint of its token; nil for an item without one.
    var fingerprint: String? { get }
    /// The client that the item itself names; nil for the one of the run.
    var clientID: ClientID? { get }
    /// Whether it lacks the shape of its kind; see ``TokenLook``.
    var isUnusual: Bool { get }
}

extension NumberedItem {
    var name: ItemName { ItemName(id: id) }
    var clientID: ClientID? { nil }
    var isUnusual: Bool { false }
}

extension TokenItem: NumberedItem {
    var fingerprint: String? { token.fingerprint }
    var isUnusual: Bool { look.isUnusual }
}

extension IdentityTokenItem: NumberedItem {
    var fingerprint: String? { token.fingerprint }
}
