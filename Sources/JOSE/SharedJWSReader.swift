internal import Synchronization

/// Takes tokens apart for many threads; see ``CompactJWSReader``.
package final class SharedJWSReader: Sendable {
    private let reader = Mutex(CompactJWSReader())

    /// A reader that has read nothing.
    package init() {}

    /// Takes a token apart.
    ///
    /// - Throws: ``CompactJWSError``, which names the part at fault.
    package func read(_ token: [UInt8]) throws(CompactJWSError) -> CompactJWS {
        let result = reader.withLockIfAvailable { reader in
            Result { () throws(CompactJWSError) in try reader.read(token) }
        }
        // No thread waits for another thread's token.
        guard let result else { return try CompactJWS(token) }
        return try result.get()
    }
}
