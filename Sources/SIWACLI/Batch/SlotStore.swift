package import LocalFiles

/// Numbered slots, in memory or in a file; see ``SlotFile``.
package protocol SlotStore: Sendable {
    /// The slot with this number, from 0; initially zero.
    func slot(_ number: Int) throws(FileError) -> SIMD2<UInt64>
    /// Replaces the slot with this number, from 0.
    func set(_ number: Int, to slot: SIMD2<UInt64>) throws(FileError)
}

extension SlotFile: SlotStore {}
