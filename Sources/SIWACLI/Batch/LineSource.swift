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

extension LineReader: LineSource {}
