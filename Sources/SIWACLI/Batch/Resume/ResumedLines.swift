internal import SIWAApplication
internal import SIWASystem
internal import Synchronization

/// Lines that were read before, followed by those of a source.
final class ResumedLines: LineSource {
    private let rest: any LineSource
    private let lines: Mutex<(any LineSpool)?>

    init(_ lines: any LineSpool, then rest: any LineSource) {
        self.lines = Mutex(lines)
        self.rest = rest
    }

    func next() -> LineSupply {
        let first: [InputLine]
        do throws(FileError) {
            first = try lines.withLock { lines throws(FileError) in
                let first = try lines?.take() ?? []
                // Frees the space on disk.
                if first.isEmpty { lines = nil }
                return first
            }
        } catch {
            return .end(error)
        }
        return first.isEmpty ? rest.next() : .lines(first)
    }

    var expectedLines: Int? { rest.expectedLines }
    var isRepeatable: Bool { false }
    func stop() { rest.stop() }
}
