package import SIWASystem

extension World {
    /// Long inputs and long outputs.
    package struct Streams: Sendable {
        /// Opens a file of lines; nil is standard input. The closure is called when there is more
        /// to read.
        package var lines:
            @Sendable (String?, @escaping @Sendable () -> Void) throws(FileError)
                -> any LineSource
        /// Opens a file to append results to; nil is standard output. The second argument receives
        /// the existing lines, and is nil for a new run. The closure is called when more lines can
        /// be appended.
        package var results:
            @Sendable (
                String?, ((InputLine) -> Bool)?, @escaping @Sendable () -> Void
            ) throws(FileError) -> any LineSink
        /// Creates an empty set of hashes on disk, which disappears with the process.
        package var hashes: @Sendable () throws(FileError) -> any HashSink
        /// Creates numbered slots on disk, which disappear with the process.
        package var slots: @Sendable () throws(FileError) -> any SlotStore
        /// Creates an encrypted spool of lines on disk, which disappears with the process.
        package var spool: @Sendable () -> any LineSpool
        /// Creates a sort with temporary storage on disk, which disappears with the process.
        package var sort: @Sendable () -> ExternalSort
        /// Throws if the system refuses the threads that a batch needs, because the batch would
        /// hang.
        package var requireBatchThreads: @Sendable () throws(FileError) -> Void
        /// Shows a line of progress in place of the last one; nil without a terminal.
        package var progress: (@Sendable (String) -> Void)?

        /// Creates streams.
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
