public import LocalFiles

/// Lines that come in as they can be had; see ``LineReader``.
public protocol LineSource: Sendable {
    /// What is there now; never blocks.
    func next() -> LineSupply
    /// About how many lines there are in all; nil when nobody can know.
    var expectedLines: Int? { get }
    /// Whether opening the same path again gives the same lines.
    var isRepeatable: Bool { get }
    /// Reads no further.
    func stop()
}

/// Lines that go out without anybody waiting for a disk; see ``LineWriter``.
public protocol LineSink: Sendable {
    /// Why nothing is written any more; nil while all is well.
    var failure: FileError? { get }
    /// How many lines were added and have certainly not reached their reader.
    var undelivered: Int { get }
    /// Whether so much waits to be written that nobody should add to it.
    var isFull: Bool { get }
    /// Adds whole lines, their ends included. Never blocks.
    func append(_ lines: [UInt8])
    /// Writes what is left; throws when something could not be written.
    func close() throws(FileError)
}

/// What every line of results begins with.
public let resultBeginning = #"{"line":"#

/// Numbered slots, wherever they are; see ``SlotFile``.
public protocol SlotStore: Sendable {
    /// The slot of this number, from 0; zero at first.
    func slot(_ number: Int) throws(FileError) -> SIMD2<UInt64>
    /// Replaces the slot of this number, from 0.
    func set(_ number: Int, to slot: SIMD2<UInt64>) throws(FileError)
}

extension LineReader: LineSource {}
extension LineWriter: LineSink {}
extension SlotFile: SlotStore {}

extension World {
    /// Long inputs, long outputs, and the wish that a run should end.
    public struct Streams: Sendable {
        /// Opens a file of lines; nil is standard input. The closure hears of news.
        public var lines:
            @Sendable (String?, @escaping @Sendable () -> Void) throws(FileError)
                -> any LineSource
        /// Opens a file to append results to; nil is standard output. The second argument sees
        /// what is there already, and is nil for a new run.
        public var results:
            @Sendable (
                String?, ((InputLine) -> Bool)?, @escaping @Sendable () -> Void
            ) throws(FileError) -> any LineSink
        /// Makes an empty set of hashes on disk, which nothing is left of afterwards.
        public var hashes: @Sendable () throws(FileError) -> any HashSink
        /// Makes numbered slots on disk, which nothing is left of afterwards.
        public var slots: @Sendable () throws(FileError) -> any SlotStore
        /// From now on the first signal to end is a wish, told by ``wishedSignal``.
        public var holdSignals: @Sendable () -> Void
        /// The signal that wishes for an end; nil while none came.
        public var wishedSignal: @Sendable () -> CInt?
        /// Shows a line of progress in place of the last one; nil when nobody watches.
        public var progress: (@Sendable (String) -> Void)?

        /// Puts streams together.
        public init(
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
            holdSignals: @escaping @Sendable () -> Void,
            wishedSignal: @escaping @Sendable () -> CInt?,
            progress: (@Sendable (String) -> Void)? = nil
        ) {
            self.lines = lines
            self.results = results
            self.hashes = hashes
            self.slots = slots
            self.holdSignals = holdSignals
            self.wishedSignal = wishedSignal
            self.progress = progress
        }
    }
}
