internal import Dispatch
internal import Glibc
internal import SIWACrypto
internal import Synchronization

/// The result of asking a reader for lines.
package enum LineSupply: Sendable {
    /// The next lines, at least one.
    case lines([InputLine])
    /// No lines yet; the listener is called when there are.
    case notYet
    /// The input has ended, or reading it failed.
    case end(FileError?)
}

/// Reads a bounded number of lines ahead on its own thread, so that slow input does not block
/// the caller and long input does not fill the memory.
package final class LineReader: Sendable {
    private let descriptor: CInt
    private let name: String
    private let lineLimit: Int
    /// The size of a file; nil for a pipe and other streams.
    private let size: Int?
    /// Whether opening the same path again gives the same lines.
    package let isRepeatable: Bool
    private let notify: @Sendable () -> Void
    private let state = Mutex<State>(State())
    /// Created with 0 and then signalled: Dispatch traps if a semaphore is released with a lower
    /// value than its initial one.
    private let room = DispatchSemaphore(value: 0)

    private struct State {
        var ready: [(lines: [InputLine], bytesRead: Int)] = []
        /// The number of lines that were returned.
        var lines = 0
        var bytes = 0
        var isStarted = false
        var isStopped = false
        var isAtEnd = false
        var failure: FileError?
    }

    /// Opens a file, or standard input if `path` is nil.
    ///
    /// - Parameters:
    ///   - lineLimit: the most bytes a line may have; a longer one is skipped.
    ///   - notify: called on another thread after a ``LineSupply/notYet``; must not block.
    /// - Throws: ``FileError``.
    package init(
        _ path: String?, lineLimit: Int = 1 << 16, notify: @escaping @Sendable () -> Void
    ) throws(FileError) {
        name = path ?? "standard input"
        if let path {
            descriptor = try openForReading(path)
        } else {
            descriptor = STDIN_FILENO
        }
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        size = isFile ? Int(status.st_size) : nil
        isRepeatable = isFile && path != nil
        self.lineLimit = lineLimit
        for _ in 0..<Self.chunksAhead { room.signal() }
        self.notify = notify
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// The lines that are available now; never blocks.
    package func next() -> LineSupply {
        start()
        let supply: LineSupply = state.withLock { state in
            if !state.ready.isEmpty {
                let (lines, bytesRead) = state.ready.removeFirst()
                state.lines += lines.count
                state.bytes = bytesRead
                return .lines(lines)
            }
            return state.isAtEnd ? .end(state.failure) : .notYet
        }
        // After the lock is released: otherwise the reader would wake up only to wait for it.
        if case .lines = supply { room.signal() }
        return supply
    }

    /// Stops reading. Lines that were read are still returned.
    package func stop() {
        state.withLock { $0.isStopped = true }
        room.signal()
    }

    /// An estimate of the number of lines, from those that were read; nil if it cannot be
    /// estimated.
    package var expectedLines: Int? {
        guard let size else { return nil }
        return state.withLock { state in
            guard state.bytes > 0 else { return nil }
            return Int(Double(state.lines) * Double(max(size, state.bytes)) / Double(state.bytes))
        }
    }

    private func start() {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        guard isFirst else { return }
        DispatchQueue(label: "siwa.lines").async { self.readAll() }
    }

    private func readAll() {
        var splitter = LineSplitter(limit: lineLimit)
        var failure: FileError?
        var bytesRead = 0
        do throws(FileError) {
            var isStopped = false
            while !isStopped, case let chunk = try readChunk(), chunk.count > 0 {
                bytesRead += chunk.count
                give(splitter.split(chunk), bytesRead)
                isStopped = state.withLock { $0.isStopped }
            }
            // In a stopped reader, the rest may be an incomplete line.
            if !isStopped { give(splitter.rest(), bytesRead) }
        } catch {
            failure = error
        }
        state.withLock { ($0.isAtEnd, $0.failure) = (true, failure) }
        notify()
    }

    private func give(_ lines: [InputLine], _ bytesRead: Int) {
        guard let first = lines.first else { return }
        let lines = first.number == 1 ? [first.withoutByteOrderMark] + lines.dropFirst() : lines
        room.wait()
        state.withLock { $0.ready.append((lines, bytesRead)) }
        notify()
    }

    private func readChunk() throws(FileError) -> SecretBytes {
        var chunk = SecretBuffer(capacity: Self.chunkSize)
        _ = try chunk.append(upTo: Self.chunkSize) { room throws(FileError) in
            try system("read", name, on: descriptor, until: POLLIN) {
                read(descriptor, room.baseAddress, room.count)
            }
        }
        return chunk.finished()
    }

    private static let chunkSize = 1 << 16
    private static let chunksAhead = 4
}

extension InputLine {
    fileprivate var withoutByteOrderMark: InputLine {
        InputLine(number: number, bytes: bytes?.withoutByteOrderMark)
    }
}

/// Splits chunks into lines; a line may span several chunks.
struct LineSplitter: ~Copyable {
    private let limit: Int
    private var partial = SecretBuffer(capacity: 0)
    private var isTooLong = false
    private var number = 0

    init(limit: Int) { self.limit = limit }

    mutating func split(_ chunk: SecretBytes) -> [InputLine] {
        chunk.withUnsafeBytes { bytes in
            var lines: [InputLine] = []
            var start = bytes.startIndex
            while start < bytes.endIndex {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
                let end = rest.firstIndex(ofByte: 0x0A)
                collect(UnsafeRawBufferPointer(rebasing: rest[..<(end ?? rest.count)]))
                guard let end else { break }
                lines.append(finishLine())
                start += end + 1
            }
            return lines
        }
    }

    /// The last line, if it has no line end.
    mutating func rest() -> [InputLine] {
        partial.count > 0 || isTooLong ? [finishLine()] : []
    }

    private mutating func collect(_ bytes: UnsafeRawBufferPointer) {
        guard !isTooLong, partial.count + bytes.count <= limit else { return isTooLong = true }
        // Most lines are within one chunk, so the buffer need not grow.
        if partial.count == 0 { partial = SecretBuffer(capacity: bytes.count) }
        partial.append(contentsOf: bytes)
    }

    private mutating func finishLine() -> InputLine {
        var line = SecretBuffer(capacity: 0)
        swap(&line, &partial)
        let isTooLong = isTooLong
        self.isTooLong = false
        number += 1
        return InputLine(number: number, bytes: isTooLong ? nil : line.finished())
    }
}
