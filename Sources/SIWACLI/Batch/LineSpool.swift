package import LocalFiles

/// Lines that are kept until they are needed, in memory or in a file; see ``SpoolFile``.
package protocol LineSpool: Sendable {
    /// Appends a line.
    func append(_ line: InputLine) throws(FileError)
    /// Takes the next lines in their order; empty after the last one.
    func take() throws(FileError) -> [InputLine]
}

extension SpoolFile: LineSpool {}
