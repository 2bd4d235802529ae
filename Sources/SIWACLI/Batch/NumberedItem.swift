internal import JOSE
internal import Lifecycle

/// An item of a batch, which its result can be found by.
protocol NumberedItem: Sendable {
    /// The number of its line, from 1.
    var line: Int { get }
    /// What no other item of the input may be called; nil for an item without an id.
    var id: JSON? { get }
    /// What its result calls it.
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
