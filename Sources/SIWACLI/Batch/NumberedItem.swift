internal import JOSE
internal import Lifecycle

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
}

extension NumberedItem {
    var name: ItemName { ItemName(id: id) }
}

extension TokenItem: NumberedItem {
    var fingerprint: String? { token.fingerprint }
}

extension IdentityTokenItem: NumberedItem {
    var fingerprint: String? { token.fingerprint }
}
