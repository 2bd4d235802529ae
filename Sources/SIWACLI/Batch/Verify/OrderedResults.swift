internal import LocalFiles
internal import SignInWithApple
internal import Synchronization

/// What came of one line.
struct LineResult: Sendable {
    let line: Int
    /// What no earlier item may be called.
    let id: JSON?
    let status: BatchStatus
    /// The line to be written, its end included; nil when the output has it from an earlier run.
    let bytes: [UInt8]?

    init(line: Int, id: JSON?, _ status: BatchStatus, _ bytes: [UInt8]?) {
        (self.line, self.id, self.status, self.bytes) = (line, id, status, bytes)
    }
}

/// What came of a group of lines.
struct GroupResults: Sendable {
    let number: Int
    let results: [LineResult]
}

/// Brings the results of several workers back into the order of the input, which is how the
/// first of two items with one id is told from the second.
final class OrderedResults: Sendable {
    private let output: BatchOutput
    private let news: News
    private let ahead: Int
    private let state: Mutex<State>

    private struct State {
        var next = 0
        var waiting: [Int: [LineResult]] = [:]
        var ids: SeenIDs
        var idFailure: FileError?
        var skipped = 0
    }

    /// - Parameters:
    ///   - news: rings when a group is written.
    ///   - ahead: how many groups may be begun before the first of them is written.
    init(_ output: BatchOutput, ids: SeenIDs, _ news: News, ahead: Int) {
        (self.output, self.news, self.ahead) = (output, news, ahead)
        state = Mutex(State(ids: ids))
    }

    /// Why nobody can tell any more whether an id is new, and nothing is written; nil while all
    /// is well.
    var idFailure: FileError? { state.withLock { $0.idFailure } }
    /// How many lines had their result already.
    var skipped: Int { state.withLock { $0.skipped } }

    /// Whether the group of this number may be begun.
    func hasRoom(for number: Int) -> Bool {
        !output.isFull && state.withLock { number - $0.next < ahead }
    }

    /// Takes what came of a group, and writes what is due.
    func take(_ group: GroupResults) {
        state.withLock { state in
            state.waiting[group.number] = group.results
            while let results = state.waiting.removeValue(forKey: state.next) {
                for result in results { write(result, &state) }
                state.next += 1
            }
        }
        news.ring()
    }

    private func write(_ result: LineResult, _ state: inout State) {
        guard state.idFailure == nil else { return }
        do throws(FileError) {
            if let id = result.id, try !state.ids.insert(id) {
                if result.bytes != nil { output.write(line: result.line, .repeatedID(id)) }
            } else if let bytes = result.bytes {
                output.write(bytes, result.status)
            }
            if result.bytes == nil { state.skipped += 1 }
        } catch {
            state.idFailure = error
        }
    }
}
