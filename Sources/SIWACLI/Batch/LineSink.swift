package import LocalFiles

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

extension LineWriter: LineSink {}
