package import SIWASystem

/// A set of hashes, in memory or in a file; see ``HashFile``.
package protocol HashSink: Sendable {
    /// Adds a hash; returns false if the set has it.
    func insert(_ hash: UInt64) throws(FileError) -> Bool
}

extension HashFile: HashSink {}

/// Lines that are written without waiting for a disk; see ``LineWriter``.
package protocol LineSink: Sendable {
    /// Why writing failed; nil if it did not.
    var failure: FileError? { get }
    /// The number of appended lines that were certainly not read.
    var undelivered: Int { get }
    /// Whether callers should wait before they append more lines.
    var isFull: Bool { get }
    /// Appends whole lines with their line ends. Never blocks.
    func append(_ lines: ArraySlice<UInt8>)
    /// Writes the rest; throws if something could not be written.
    func close() throws(FileError)
}

extension LineWriter: LineSink {}

/// Lines that are read as they arrive; see ``LineReader``.
package protocol LineSource: Sendable {
    /// The lines that are available now; never blocks.
    func next() -> LineSupply
    /// An estimate of the number of lines; nil if it cannot be estimated.
    var expectedLines: Int? { get }
    /// Whether opening the same path again gives the same lines.
    var isRepeatable: Bool { get }
    /// Stops reading.
    func stop()
}

extension LineReader: LineSource {}

/// Lines that are kept until they are needed, in memory or in a file; see ``SpoolFile``.
package protocol LineSpool: Sendable {
    func append(_ line: InputLine) throws(FileError)
    /// Takes the next lines in their order; empty after the last one.
    func take() throws(FileError) -> [InputLine]
}

extension SpoolFile: LineSpool {}

/// Numbered slots, in memory or in a file; see ``SlotFile``.
package protocol SlotStore: Sendable {
    /// The slot with this number, from 0; initially zero.
    func slot(_ number: Int) throws(FileError) -> SIMD2<UInt64>
    /// Replaces the slot with this number, from 0.
    func set(_ number: Int, to slot: SIMD2<UInt64>) throws(FileError)
}

extension SlotFile: SlotStore {}

/// The first bytes of every result line.
package let resultBeginning = #"{"line":"#
