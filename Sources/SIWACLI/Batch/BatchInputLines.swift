internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import Synchronization

/// The items of a batch's input: skips lines that have a result already, and reports invalid lines.
final class BatchInputLines<Item: NumberedItem>: Sendable {
    private let source: any LineSource
    private let output: BatchOutput
    private let read: ItemReading<Item>
    private let state: Mutex<State>

    private struct State {
        var lines: ArraySlice<InputLine> = []
        let done: DoneLines
        var ids: SeenIDs
        var unusual: HeldItems<Item>
        var isAtEnd = false
        var failure: FileError?
        var idFailure: FileError?
    }

    /// - Parameter holdsUnusual: keeps unusual items until ``HeldItems`` decides about them.
    init(
        _ source: any LineSource, _ resumed: ResumedInput, _ output: BatchOutput,
        holdsUnusual: Bool = false, read: @escaping ItemReading<Item>
    ) {
        (self.source, self.output, self.read) = (source, output, read)
        // Lines that are read again are counted then.
        let before = source.isRepeatable ? TokenShapes() : resumed.shapes
        state = Mutex(
            State(
                done: resumed.done, ids: resumed.ids,
                unusual: HeldItems(holdsUnusual: holdsUnusual, after: before)))
    }

    /// How many of the items were unusual, and whether the run stopped for that.
    var unusual: (shapes: TokenShapes, isStopped: Bool) {
        state.withLock { ($0.unusual.shapes, $0.unusual.isStopped) }
    }

    /// Why reading the input failed; nil if it did not.
    var failure: FileError? { state.withLock { $0.failure } }
    /// Why ids can no longer be checked for repetition; nil if they can.
    var idFailure: FileError? { state.withLock { $0.idFailure } }

    /// The next item, if one is available; see ``BatchRun``.
    func next() -> BatchInput<Item> {
        // A slow reader of the results slows the run down.
        guard !output.isFull else { return .notYet }
        return state.withLock { state in
            while state.idFailure == nil, !state.unusual.isStopped {
                if let item = state.unusual.release() { return .item(item) }
                guard !state.isAtEnd else { return .end }
                guard let line = state.lines.popFirst() else {
                    guard readMore(&state) else { return .notYet }
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

    /// Reads the next lines, or the end. False if there are none yet.
    private func readMore(_ state: inout State) -> Bool {
        switch source.next() {
        case .lines(let lines): state.lines = lines[...]
        case .notYet: return false
        case .end(let failure):
            (state.failure, state.isAtEnd) = (failure, true)
            state.unusual.end()
        }
        return true
    }

    private func item(
        of line: InputLine, _ state: inout State
    ) throws(FileError) -> Item? {
        let isDone = state.done.contains(line.number)
        let item: Item
        do throws(InvalidLine) {
            guard let read = try line.item(read) else { return nil }
            item = read
        } catch {
            if !isDone { output.write(line: line.number, error) }
            return nil
        }
        if let id = item.id, try !state.ids.insert(id) {
            if !isDone { output.write(line: line.number, .repeatedID(id)) }
            return nil
        }
        guard isDone else { return state.unusual.take(item) }
        state.unusual.skip(item)
        return nil
    }
}
