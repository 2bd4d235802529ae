package import LocalFiles

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
