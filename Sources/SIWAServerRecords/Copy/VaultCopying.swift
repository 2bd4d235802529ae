package import SIWALifecycle
internal import SIWAVaultRecords

/// Moves a vault, with everything else that siwa keeps in its database, to another database.
///
/// Calls block. ``run(_:)`` continues a copy that was interrupted at any moment.
package protocol VaultCopying: Sendable {
    /// Counts the rows of the source, and examines them and the target. Changes nothing.
    ///
    /// - Throws: ``StoreError``, also if the target cannot hold a row.
    func preview() throws(StoreError) -> VaultCopyPreview

    /// Marks the source as moving, copies every table, compares the two, and marks the source as
    /// moved.
    ///
    /// - Parameter checkpoint: called between two steps with the number of rows of the last one;
    ///   it may throw to stop.
    /// - Throws: ``StoreError``, and the errors of `checkpoint`.
    func run(_ checkpoint: (Int) throws -> Void) throws -> VaultCopyResult

    /// Removes the incomplete target, and then the mark of the source.
    ///
    /// - Throws: ``StoreError``, also if the target is complete.
    func abort() throws(StoreError) -> VaultCopyRemoval
}

/// Two databases.
package struct VaultCopyPlaces: Hashable, Sendable {
    /// A database.
    package struct Place: Hashable, Sendable {
        /// How to connect to it.
        package let url: String
        /// Its URL without a password.
        package let name: String

        /// Creates a place.
        package init(url: String, name: String) { (self.url, self.name) = (url, name) }
    }

    /// The vault that moves.
    package let source: Place
    /// Where it moves to.
    package let target: Place

    /// Creates places.
    package init(from source: Place, to target: Place) {
        (self.source, self.target) = (source, target)
    }
}

/// A table of both databases.
package struct VaultTableCopy: Hashable, Sendable {
    package let table: String
    package let rows: Int
    /// A hash of all rows, in hexadecimal digits.
    package let digest: String

    /// Creates a table.
    package init(table: String, rows: Int, digest: String) {
        (self.table, self.rows, self.digest) = (table, rows, digest)
    }
}

/// What a copy would do.
package struct VaultCopyPreview: Hashable, Sendable {
    /// The tables of the source.
    package let tables: [VaultTableCopy]
    /// The number of servers that use the source: while there is one, nothing is copied.
    package let servers: Int

    /// Creates a preview.
    package init(tables: [VaultTableCopy], servers: Int) {
        (self.tables, self.servers) = (tables, servers)
    }
}

/// A finished copy.
package enum VaultCopyResult: Hashable, Sendable {
    /// Both databases had these tables when the source was marked as moved.
    case copied([VaultTableCopy])
    /// An earlier run had completed the target, which may have changed since.
    case wasComplete
}

/// What the end of an incomplete copy removed.
package struct VaultCopyRemoval: Hashable, Sendable {
    /// Whether the source was marked.
    package let unmarksSource: Bool
    /// Whether the target had tables.
    package let removesTarget: Bool

    /// Creates a removal.
    package init(unmarksSource: Bool, removesTarget: Bool) {
        (self.unmarksSource, self.removesTarget) = (unmarksSource, removesTarget)
    }
}
