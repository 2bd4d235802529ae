internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import Synchronization

/// The results of a batch: written as they arrive, one per line, and counted.
final class BatchOutput: Sendable {
    private let sink: any LineSink
    private let layout: BatchLayout
    private let counts = Mutex(BatchCounts())
    private let unusables = Mutex(0)

    init(_ sink: any LineSink, _ layout: BatchLayout = .standard) {
        (self.sink, self.layout) = (sink, layout)
    }

    /// Why writing failed; nil if it did not.
    var failure: FileError? { sink.failure }
    /// The number of results that were certainly not read.
    var undelivered: Int { sink.undelivered }
    /// Whether callers should wait before they write more results.
    var isFull: Bool { sink.isFull }
    /// The number of records of a vault that could not be used.
    var unusable: Int { unusables.withLock { $0 } }
    /// The number of results with each status.
    var counted: BatchCounts { counts.withLock { $0 } }

    /// Writes the result of an item.
    func write(line: Int, _ name: ItemName, _ report: ItemReport) {
        if report.exitCode == .settings { unusables.withLock { $0 += 1 } }
        write(Self.bytes(line: line, name, report, layout), report.status)
    }

    /// Writes that a line is invalid.
    func write(line: Int, _ problem: InvalidLine) { write(problem.bytes(line, layout), .invalid) }

    private func write(_ bytes: [UInt8], _ status: BatchStatus) {
        counts.withLock { $0.add(status) }
        sink.append(bytes[...])
    }

    /// Writes several results, and counts all of them, including those that are not written.
    func write(_ lines: ArraySlice<UInt8>, _ counted: BatchCounts) {
        counts.withLock { $0.add(counted) }
        guard !lines.isEmpty else { return }
        sink.append(lines)
    }

    /// The line of one result, with its line end.
    static func bytes(
        line: Int, _ name: ItemName, _ report: ItemReport, _ layout: BatchLayout = .standard
    ) -> [UInt8] {
        var text = JSONLine()
        text.add("line", line)
        layout.add(name, report, to: &text)
        return text.finished()
    }

    /// The beginning of a result in the layout ``BatchLayout/standard``.
    ///
    /// - Parameter lines: the results before it.
    static func begin(
        line number: Int, id: JSON?, _ status: BatchStatus, _ exitCode: ExitCode,
        after lines: consuming [UInt8]
    ) -> JSONLine {
        var line = JSONLine(after: lines)
        line.add("line", number)
        line.add("id", id ?? .null)
        line.add(status, exitCode)
        return line
    }

    /// Writes the last results.
    func close() throws(FileError) { try sink.close() }
}

extension InvalidLine {
    /// The result of an invalid line.
    func bytes(_ line: Int, _ layout: BatchLayout = .standard) -> [UInt8] {
        let report = ItemReport(
            .invalid, .usage, error: .error(.invalidLine, printable(reason)))
        return BatchOutput.bytes(line: line, ItemName(id: id, oldUserID: oldUserID), report, layout)
    }
}

/// The number of items with each status.
struct BatchCounts: Sendable {
    private(set) var done = 0
    private(set) var refused = 0
    private(set) var failed = 0
    private(set) var invalid = 0

    var total: Int { done + refused + failed + invalid }

    /// `99990 done, 6 refused`: the counts that are not zero, and `always`.
    func named(always: BatchStatus = .done) -> String {
        let all: [(Int, BatchStatus)] = [
            (done, .done), (failed, .failed), (refused, .refused), (invalid, .invalid),
        ]
        return all.filter { $0.0 > 0 || [.done, always].contains($0.1) }
            .map { "\($0.0) \($0.1.rawValue)" }.joined(separator: ", ")
    }

    func adding(_ other: Self) -> Self {
        var sum = self
        sum.add(other)
        return sum
    }

    mutating func add(_ other: Self) {
        done += other.done
        refused += other.refused
        failed += other.failed
        invalid += other.invalid
    }

    mutating func add(_ status: BatchStatus) {
        switch status {
        case .done: done += 1
        case .refused: refused += 1
        case .failed: failed += 1
        case .invalid: invalid += 1
        }
    }
}
