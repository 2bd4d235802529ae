package import LocalFiles

/// A set of hashes, in memory or in a file; see ``HashFile``.
package protocol HashSink: Sendable {
    /// Adds a hash; returns false if the set has it.
    func insert(_ hash: UInt64) throws(FileError) -> Bool
}

extension HashFile: HashSink {}
