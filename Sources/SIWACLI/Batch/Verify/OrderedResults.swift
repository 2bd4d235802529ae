internal import JOSE
internal import Lifecycle
internal import LocalFiles
internal import Synchronization

/// The result of one line.
struct LineResult: Sendable {
    let line: Int
    /// What no earlier item may be called.
    let id: JSON?
    let status: BatchStatus
    /// How many bytes of its group's text are its own: 0 when its status is not asked for, nil
    /// when the output has it from an earlier run.
    let length: Int?
}

/// The result of a group of lines.
struct GroupResults: Sendable {
    let number: Int
    /// What is to be written of all of them, whole lines.
    let text: [UInt8]
    let results: [LineResult]
}

/// Restores the order of the input among the results of several workers. Of two items with the
/// same id, the first one in the input keeps it.
final class OrderedResults: Sendable {
    private let output: BatchOutput
    private let filter: StatusFilter
    private let wake: WakeSignal
    private let ahead: Int
    private let state: Mutex<State>

    private struct State {
        var next = 0
        var waiting: [Int: GroupResults] = [:]
        var ids: SeenIDs
        var idFailure: FileError?
    }

    /// - Parameters:
    ///   - filter: which of the results that are made here are written.
    ///   - wake: notified when a group is written.
    ///   - ahead: how many groups may be begun before the first of them is written.
    init(
        _ output: BatchOutput, _ filter: StatusFilter = .all, ids: SeenIDs, _ wake: WakeSignal,
        ahead: Int
    ) {
        (self.output, self.filter, self.wake, self.ahead) = (output, filter, wake, ahead)
        state = Mutex(State(ids: ids))
    }

    /// Why ids can no longer be checked for repetition, after which no result is written; nil if
    /// they can.
    var idFailure: FileError? { state.withLock { $0.idFailure } }

    /// Whether the group of this number may be begun.
    func hasRoom(for number: Int) -> Bool {
        !output.isFull && state.withLock { number - $0.next < ahead }
    }

    /// Takes what came of a group, and writes what is due.
    func take(_ group: GroupResults) {
        state.withLock { state in
            state.waiting[group.number] = group
            while let group = state.waiting.removeValue(forKey: state.next) {
                write(group, &state)
                state.next += 1
            }
        }
        wake.notify()
    }

    /// All at once, but for items that are called as an earlier one is.
    private func write(_ group: GroupResults, _ state: inout State) {
        var due = 0..<0
        var counts = BatchCounts()
        for result in group.results where state.idFailure == nil {
            let end = due.upperBound + (result.length ?? 0)
            do throws(FileError) {
                if let id = result.id, try !state.ids.insert(id) {
                    output.write(group.text[due], counts)
                    if result.length != nil { refuseRepetition(of: id, line: result.line) }
                    (due, counts) = (end..<end, BatchCounts())
                } else {
                    if result.length != nil { counts.add(result.status) }
                    due = due.lowerBound..<end
                }
            } catch {
                state.idFailure = error
            }
        }
        output.write(group.text[due], counts)
    }

    private func refuseRepetition(of id: JSON, line: Int) {
        var counts = BatchCounts()
        counts.add(.invalid)
        let text = filter.contains(.invalid) ? InvalidLine.repeatedID(id).bytes(line) : []
        output.write(text[...], counts)
    }
}
