package import LocalFiles

/// Lines that are written without waiting for a disk; see ``LineWriter``.
package protocol LineSink: Sendable {
    /// Why writing failed; nil if it did not.
    var failure: FileError? { get }
    /// The number of appended lines that were certainly not read.
    var undelivered: Int { get }
    /// Whether callers should wait before they append more lines.
    var isFull: Bool { get }
    /// Appends whole lines with their line ends. Never blocks.
    func append(_ lines: [UInt8])
    /// Writes the rest; throws if something could not be written.
    func close() throws(FileError)
}

extension LineWriter: LineSink {}
