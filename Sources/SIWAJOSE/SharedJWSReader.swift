internal import Synchronization

/// Parses tokens for many threads; see ``CompactJWSReader``.
package final class SharedJWSReader: Sendable {
    private let reader = Mutex(CompactJWSReader())

    /// A reader that has read nothing.
    package init() {}

    /// Parses a token.
    ///
    /// - Throws: ``CompactJWSError``, which names the part at fault.
    package func read(_ token: [UInt8]) throws(CompactJWSError) -> CompactJWS {
        let result = reader.withLockIfAvailable { reader in
            Result { () throws(CompactJWSError) in try reader.read(token) }
        }
        // If another thread uses the reader, the token is parsed without it.
        guard let result else { return try CompactJWS(token) }
        return try result.get()
    }
}
