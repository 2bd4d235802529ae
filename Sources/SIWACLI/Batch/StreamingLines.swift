internal import SIWAApplication
internal import SIWALifecycle
internal import SIWASystem

/// The lines of a file or of standard input, read as they arrive.
struct StreamingLines: Sendable {
    /// The source of the lines.
    let source: any LineSource
    private let path: String?
    private let world: World
    private let wake: WakeSignal

    /// - Parameters:
    ///   - path: nil for standard input.
    ///   - wake: notified when there are more lines.
    init(
        _ path: String?, in world: World, wake: WakeSignal = WakeSignal()
    ) throws(FileError) {
        (self.path, self.world, self.wake) = (path, world, wake)
        source = try world.streams.lines(path, wake.notify)
    }

    /// The next lines, at least one; nil at the end of the input.
    func next() async throws(FileError) -> [InputLine]? {
        while true {
            let seen = wake.count
            switch source.next() {
            case .lines(let lines): return lines
            case .notYet: await wake.wait(after: seen)
            case .end(let failure):
                if let failure { throw failure }
                return nil
            }
        }
    }

    /// The same lines from the beginning; only for a source that is repeatable.
    func reopened() throws(FileError) -> any LineSource {
        try world.streams.lines(path, wake.notify)
    }
}

/// The lines of a result, written as they are produced; a slow reader slows the writer down.
struct StreamingOutput: Sendable {
    private let sink: any LineSink
    private let wake = WakeSignal()

    /// - Parameter path: a file that is empty or does not exist; nil for standard output.
    init(to path: String?, in world: World) throws(FileError) {
        sink = try world.streams.results(path, nil, wake.notify)
    }

    /// Appends whole lines, waiting until they can be taken.
    func write(_ lines: [UInt8]) async throws(FileError) {
        while true {
            let seen = wake.count
            if let failure = sink.failure { throw failure }
            guard sink.isFull else { break }
            await wake.wait(after: seen)
        }
        sink.append(lines[...])
    }

    /// Writes the last lines.
    func close() throws(FileError) { try sink.close() }
}
