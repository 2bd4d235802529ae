package import LocalFiles

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
