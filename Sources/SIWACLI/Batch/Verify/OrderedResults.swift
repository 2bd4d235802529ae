internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import Synchronization

struct LineResult: Sendable {
    let line: Int
    /// The id, which must be unique in the input.
    let id: JSON?
    let status: BatchStatus
    /// The number of bytes in its group's text: 0 if its status is filtered out, nil if the output
    /// has it from an earlier run.
    let length: Int?
}

/// The result of a group of lines.
struct GroupResults: Sendable {
    let number: Int
    /// The result lines of the group.
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
    ///   - ahead: the number of groups that may be started before the first of them is written.
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

    /// Whether the group with this number may be started.
    func hasRoom(for number: Int) -> Bool {
        !output.isFull && state.withLock { number - $0.next < ahead }
    }

    /// Takes the results of a group, and writes all groups whose turn it is.
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

    /// Writes the group at once, except for items that repeat an earlier id.
    private func write(_ group: GroupResults, _ state: inout State) {
        var due = 0..<0
        var counts = BatchCounts()
        do throws(FileError) {
            for result in state.idFailure == nil ? group.results : [] {
                let end = due.upperBound + (result.length ?? 0)
                if let id = result.id, try !state.ids.insert(id) {
                    output.write(group.text[due], counts)
                    if result.length != nil { refuseRepetition(of: id, line: result.line) }
                    (due, counts) = (end..<end, BatchCounts())
                } else {
                    if result.length != nil { counts.add(result.status) }
                    due = due.lowerBound..<end
                }
            }
        } catch {
            state.idFailure = error
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
