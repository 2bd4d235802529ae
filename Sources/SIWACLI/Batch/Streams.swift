package import LocalFiles

/// Lines that are read as they arrive; see ``LineReader``.
package protocol LineSource: Sendable {
    /// What is there now; never blocks.
    func next() -> LineSupply
    /// About how many lines there are in all; nil if that cannot be estimated.
    var expectedLines: Int? { get }
    /// Whether opening the same path again gives the same lines.
    var isRepeatable: Bool { get }
    /// Reads no further.
    func stop()
}

/// Lines that are written without waiting for a disk; see ``LineWriter``.
package protocol LineSink: Sendable {
    /// Why writing failed; nil if it did not.
    var failure: FileError? { get }
    /// How many lines were added and have certainly not reached their reader.
    var undelivered: Int { get }
    /// Whether so much waits to be written that callers should wait.
    var isFull: Bool { get }
    /// Adds whole lines, their ends included. Never blocks.
    func append(_ lines: [UInt8])
    /// Writes the rest; throws if something could not be written.
    func close() throws(FileError)
}

/// What every line of results begins with.
package let resultBeginning = #"{"line":"#

/// Numbered slots, in memory or in a file; see ``SlotFile``.
package protocol SlotStore: Sendable {
    /// The slot of this number, from 0; zero at first.
    func slot(_ number: Int) throws(FileError) -> SIMD2<UInt64>
    /// Replaces the slot of this number, from 0.
    func set(_ number: Int, to slot: SIMD2<UInt64>) throws(FileError)
}

/// Lines that wait until they are needed, in memory or in a file; see ``SpoolFile``.
package protocol LineSpool: Sendable {
    /// Adds a line after the others.
    func append(_ line: InputLine) throws(FileError)
    /// Takes the next lines in their order; none when all were taken.
    func take() throws(FileError) -> [InputLine]
}

extension LineReader: LineSource {}
extension LineWriter: LineSink {}
extension SlotFile: SlotStore {}
extension SpoolFile: LineSpool {}

extension World {
    /// Long inputs and long outputs.
    package struct Streams: Sendable {
        /// Opens a file of lines; nil is standard input. The closure is called when there is more
        /// to read.
        package var lines:
            @Sendable (String?, @escaping @Sendable () -> Void) throws(FileError)
                -> any LineSource
        /// Opens a file to append results to; nil is standard output. The second argument sees
        /// what is there already, and is nil for a new run. The closure is called when there is
        /// room again.
        package var results:
            @Sendable (
                String?, ((InputLine) -> Bool)?, @escaping @Sendable () -> Void
            ) throws(FileError) -> any LineSink
        /// Makes an empty set of hashes on disk, which disappears with the process.
        package var hashes: @Sendable () throws(FileError) -> any HashSink
        /// Makes numbered slots on disk, which disappear with the process.
        package var slots: @Sendable () throws(FileError) -> any SlotStore
        /// Makes room for lines, encrypted on disk; nothing is left of it afterwards.
        package var spool: @Sendable () -> any LineSpool
        /// Makes a sort of more entries than memory holds; nothing is left of it afterwards.
        package var sort: @Sendable () -> ExternalSort
        /// Throws when the system refuses the threads that a batch needs: it would hang.
        package var requireBatchThreads: @Sendable () throws(FileError) -> Void
        /// Shows a line of progress in place of the last one; nil without a terminal.
        package var progress: (@Sendable (String) -> Void)?

        /// Puts streams together.
        package init(
            lines:
                @escaping @Sendable (
                    String?, @escaping @Sendable () -> Void
                ) throws(FileError) -> any LineSource,
            results:
                @escaping @Sendable (
                    String?, ((InputLine) -> Bool)?, @escaping @Sendable () -> Void
                ) throws(FileError) -> any LineSink,
            hashes: @escaping @Sendable () throws(FileError) -> any HashSink,
            slots: @escaping @Sendable () throws(FileError) -> any SlotStore,
            spool: @escaping @Sendable () -> any LineSpool,
            sort: @escaping @Sendable () -> ExternalSort,
            requireBatchThreads: @escaping @Sendable () throws(FileError) -> Void = {},
            progress: (@Sendable (String) -> Void)? = nil
        ) {
            self.lines = lines
            self.results = results
            self.hashes = hashes
            self.slots = slots
            self.spool = spool
            self.sort = sort
            self.requireBatchThreads = requireBatchThreads
            self.progress = progress
        }
    }
}
