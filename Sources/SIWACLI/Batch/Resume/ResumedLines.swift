internal import LocalFiles
internal import Synchronization

/// Lines that were read already, and then those of a source.
final class ResumedLines: LineSource {
    private let rest: any LineSource
    private let lines: Mutex<[InputLine]>

    init(_ lines: [InputLine], then rest: any LineSource) {
        self.lines = Mutex(lines)
        self.rest = rest
    }

    func next() -> LineSupply {
        let first = lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
        return first.isEmpty ? rest.next() : .lines(first)
    }

    var expectedLines: Int? { rest.expectedLines }
    var isRepeatable: Bool { false }
    func stop() { rest.stop() }
}
