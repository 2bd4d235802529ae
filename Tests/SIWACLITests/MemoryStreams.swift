import SIWACLI
import SIWACrypto
import Synchronization

@testable import SIWAApplication
@testable import SIWASystem

extension World.Streams {
    /// Lines from a memory's files and standard input, and results to them.
    static func inside(_ memory: Memory) -> Self {
        Self(
            lines: { path, _ throws(FileError) in
                guard let path else {
                    return MemoryLines(memory.with { $0.input ?? [] }, isRepeatable: false)
                }
                return MemoryLines(try memory.read(path).contents.revealed(), isRepeatable: true)
            },
            results: { path, keep, _ throws(FileError) in
                let sink = MemoryResults(memory, path)
                if let path { try sink.open(path, keep) }
                return sink
            },
            hashes: { () throws(FileError) in MemoryHashes() },
            slots: { () throws(FileError) in MemorySlots() },
            spool: { SpoolFile(in: "/no/such/folder") },
            sort: { ExternalSort(in: "/no/such/folder") })
    }
}

/// All lines at once.
private final class MemoryLines: LineSource {
    private let lines: Mutex<[InputLine]>
    let expectedLines: Int?
    let isRepeatable: Bool

    init(_ text: [UInt8], isRepeatable: Bool) {
        self.isRepeatable = isRepeatable
        var splitter = LineSplitter(limit: 1 << 16)
        let whole = splitter.split(SecretBytes(text))
        let all = whole + splitter.rest()
        lines = Mutex(all)
        expectedLines = all.count
    }

    func stop() {}

    func next() -> LineSupply {
        lines.withLock { lines in
            defer { lines = [] }
            return lines.isEmpty ? .end(nil) : .lines(lines)
        }
    }
}

/// Appends to a file in memory, as the real one does: what a crash left of a line is cut off.
private final class MemoryResults: LineSink {
    private let memory: Memory
    private let path: String?
    private let broken = Mutex<FileError?>(nil)
    private let lost = Mutex(0)

    init(_ memory: Memory, _ path: String?) { (self.memory, self.path) = (memory, path) }

    func open(_ path: String, _ keep: ((InputLine) -> Bool)?) throws(FileError) {
        let contents = memory.with { $0.files[path]?.contents ?? [] }
        guard let keep else {
            guard contents.isEmpty else {
                throw FileError("write", path, reason: "it is not empty", code: 39)
            }
            return memory.with { $0.files[path] = .init(contents: []) }
        }
        var splitter = LineSplitter(limit: 1 << 20)
        let lines = splitter.split(SecretBytes(contents))
        guard lines.allSatisfy(keep) else {
            throw FileError("write", path, reason: "it holds no results", code: 74)
        }
        let whole = lines.reduce(0) { $0 + ($1.bytes?.count ?? 0) + 1 }
        memory.with { $0.files[path] = .init(contents: Array(contents.prefix(whole))) }
    }

    var failure: FileError? { broken.withLock { $0 } }
    var undelivered: Int { lost.withLock { $0 } }
    var isFull: Bool { false }

    func append(_ lines: ArraySlice<UInt8>) {
        guard let path else {
            do throws(FileError) {
                try memory.print(SecretBytes(lines))
            } catch {
                broken.withLock { $0 = error }
                lost.withLock { $0 += 1 }
            }
            return
        }
        memory.with { state in
            state.files[path]?.contents += lines
            if !state.written.contains(path) { state.written.append(path) }
        }
    }

    func close() throws(FileError) { if let failure { throw failure } }
}

private final class MemoryHashes: HashSink {
    private let hashes = Mutex<Set<UInt64>>([])

    func insert(_ hash: UInt64) throws(FileError) -> Bool {
        hashes.withLock { $0.insert(hash).inserted }
    }
}

private final class MemorySlots: SlotStore {
    private let slots = Mutex<[Int: SIMD2<UInt64>]>([:])

    func slot(_ number: Int) throws(FileError) -> SIMD2<UInt64> {
        slots.withLock { $0[number] ?? .zero }
    }

    func set(_ number: Int, to slot: SIMD2<UInt64>) throws(FileError) {
        slots.withLock { $0[number] = slot }
    }
}
