internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple
internal import Synchronization

/// Turns the lines of a batch's input into items: passes over what has its result already, and
/// gives lines that are no items theirs.
final class BatchInputLines<Item: Sendable>: Sendable {
    private let source: any LineSource
    private let output: BatchOutput
    private let read: @Sendable (SecretBytes, Int) throws(InvalidLine) -> (item: Item, id: JSON?)
    private let state: Mutex<State>

    private struct State {
        var lines: ArraySlice<InputLine> = []
        let done: DoneLines
        var ids: SeenIDs
        var failure: FileError?
        var idFailure: FileError?
    }

    init(
        _ source: any LineSource, _ resumed: ResumedInput, _ output: BatchOutput,
        read:
            @escaping @Sendable (SecretBytes, Int) throws(InvalidLine) -> (
                item: Item, id: JSON?
            )
    ) {
        (self.source, self.output, self.read) = (source, output, read)
        state = Mutex(State(done: resumed.done, ids: resumed.ids))
    }

    /// Why the input could not be read to its end; nil when it was, or is still being read.
    var failure: FileError? { state.withLock { $0.failure } }
    /// Why nobody can tell any more whether an id is new; nil while all is well.
    var idFailure: FileError? { state.withLock { $0.idFailure } }

    /// The next item, if there is one; see ``BatchRun``.
    func next() -> BatchInput<Item> {
        // Whoever writes results slower than they come sets the pace.
        guard !output.isFull else { return .notYet }
        return state.withLock { state in
            while state.idFailure == nil {
                guard let line = state.lines.popFirst() else {
                    switch source.next() {
                    case .lines(let lines): state.lines = lines[...]
                    case .notYet: return .notYet
                    case .end(let failure):
                        state.failure = failure
                        return .end
                    }
                    continue
                }
                do throws(FileError) {
                    if let item = try item(of: line, &state) { return .item(item) }
                } catch {
                    state.idFailure = error
                }
            }
            return .end
        }
    }

    private func item(
        of line: InputLine, _ state: inout State
    ) throws(FileError) -> Item? {
        // Spent in vain on a line that is empty: a file's last one often is.
        if let bytes = line.bytes, bytes.isBlank { return nil }
        let isDone = state.done.contains(line.number)
        let (item, id): (Item, JSON?)
        do throws(InvalidLine) {
            guard let bytes = line.bytes else { throw .tooLong }
            (item, id) = try read(bytes, line.number)
        } catch {
            if !isDone { output.write(line: line.number, error) }
            return nil
        }
        if let id, try !state.ids.insert(id) {
            if !isDone { output.write(line: line.number, .repeatedID(id)) }
            return nil
        }
        return isDone ? nil : item
    }
}

extension InvalidLine {
    static func repeatedID(_ id: JSON) -> Self {
        Self(id, "its id stands in an earlier line, too")
    }

    static let tooLong = Self(nil, "the line is longer than any item")
}

extension SecretBytes {
    var isBlank: Bool {
        withSpan { bytes in bytes.indices.allSatisfy { [0x20, 0x09, 0x0D].contains(bytes[$0]) } }
    }
}
