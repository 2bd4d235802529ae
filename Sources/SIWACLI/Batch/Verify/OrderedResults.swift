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
        var skipped = 0
    }

    /// - Parameters:
    ///   - news: rings when a group is written.
    ///   - ahead: how many groups may be begun before the first of them is written.
    init(_ output: BatchOutput, ids: SeenIDs, _ news: News, ahead: Int) {
        (self.output, self.news, self.ahead) = (output, news, ahead)
        state = Mutex(State(ids: ids))
    }

    /// How many lines had their result already.
    var skipped: Int { state.withLock { $0.skipped } }

    /// Whether the group of this number may be begun.
    func hasRoom(for number: Int) -> Bool {
        !output.isFull && state.withLock { number - $0.next < ahead }
    }

    /// Takes what came of a group, and writes what is due.
    func take(_ results: [LineResult], of number: Int) {
        state.withLock { state in
            state.waiting[number] = results
            while let results = state.waiting.removeValue(forKey: state.next) {
                for result in results { write(result, &state) }
                state.next += 1
            }
        }
        news.ring()
    }

    private func write(_ result: LineResult, _ state: inout State) {
        do throws(InvalidLine) {
            if let id = result.id, try !state.ids.insert(id) { throw .repeatedID(id) }
            if let bytes = result.bytes { output.write(bytes, result.status) }
        } catch {
            if result.bytes != nil { output.write(line: result.line, error) }
        }
        if result.bytes == nil { state.skipped += 1 }
    }
}
