import SIWACrypto
import SIWAJOSE
import Synchronization

@testable import SIWASystem

/// The state that a scenario sets before a run and checks afterwards.
final class Memory: Sendable {
    /// A file in memory.
    struct File {
        var contents: [UInt8]
        var permissions: UInt32 = 0o600
        var isForeign = false
    }

    /// Why standard output takes nothing.
    enum Blockage: String {
        case full
        case exhausted
        case closed
        case deserted
        case leaving

        var error: FileError {
            let code: CInt =
                switch self {
                case .full, .exhausted: 28
                case .closed: 9
                case .deserted, .leaving: 32
                }
            return FileError("write", "standard output", code: code)
        }
    }

    /// When every scenario begins.
    static let start = NumericDate(1_800_000_000)

    struct State {
        var now = Memory.start
        var files: [String: File] = [:]
        /// Contents that another process writes to a file after it was read once.
        var afterReading: [String: [UInt8]] = [:]
        var variables: [String: String] = [:]
        var isRoot = false
        var input: [UInt8]?
        var blockage: Blockage?
        /// The signal that arrives while something is printed.
        var signalWhilePrinting: CInt?
        /// The signal that arrived.
        var signal: CInt?
        var output: [UInt8] = []
        var errors: [String] = []
        var written: [String] = []
        var trusted: [String] = []
        var locks: Set<String> = []
        var refusedLocks = 0
        var usesCache = false
        /// What a person answers at the terminal; nil without a terminal.
        var answers: [String]?
        /// How the programs end that siwa runs.
        var ending = ProgramEnding.exit(0)
        /// What they print.
        var programLines: [String] = []
        /// The programs that were run.
        var programs: [ChildProgram] = []
    }

    private let state = Mutex(State())

    /// Reads or changes all of it at once.
    func with<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try state.withLock { try body(&$0) }
    }

    func read(_ path: String) throws(FileError) -> LocalFile {
        let found = with { state in
            defer {
                if let next = state.afterReading.removeValue(forKey: path) {
                    state.files[path]?.contents = next
                }
            }
            return state.files[path]
        }
        guard let file = found else { throw FileError("read", path, code: 2) }
        return LocalFile(
            contents: SecretBytes(file.contents),
            status: FileStatus(permissions: file.permissions, isForeign: file.isForeign))
    }

    /// Like the real one: readable by the owner only, even if the old file was not. The key set's
    /// cache is not a result, so scenarios need not mention it.
    func write(_ contents: SecretBytes, to path: String) {
        with {
            $0.files[path] = File(contents: contents.revealed())
            if !path.contains("/siwa/keys-") { $0.written.append(path) }
        }
    }

    /// Like the real one, by the same rule.
    func check(_ path: String, _ rule: ReplacementRule) throws(FileError) {
        guard let old = with({ $0.files[path] }) else { return }
        try rule.check(SecretBytes(old.contents), at: path)
    }

    /// Like the real one; nothing can be written in `/full`.
    func replace(
        _ path: String, with contents: SecretBytes, _ rule: ReplacementRule
    ) throws(FileError) {
        try check(path, rule)
        guard !path.hasPrefix("/full/") else { throw FileError("write", path, code: 28) }
        with {
            $0.files[path] = File(
                contents: contents.revealed(), permissions: rule.permissions)
            $0.written.append(path)
        }
    }

    /// What the person at the terminal says; nothing more at the end of the answers.
    func answer(_ question: String) -> String {
        with { state in
            state.errors.append(question)
            guard let next = state.answers?.first else { return "" }
            state.answers?.removeFirst()
            return next
        }
    }

    /// Keeps an existing file.
    func create(_ contents: SecretBytes, at path: String) throws(FileError) {
        guard with({ $0.files[path] == nil }) else { throw FileError("write", path, code: 17) }
        write(contents, to: path)
    }

    /// Nil while another process has the lock.
    func lock(_ path: String) -> FileLock? {
        let isFree = with { state in
            let isFree = state.locks.insert(path).inserted
            if !isFree { state.refusedLocks += 1 }
            return isFree
        }
        guard isFree else { return nil }
        return FileLock { self.with { _ = $0.locks.remove(path) } }
    }

    /// Only a disk that is exhausted says so before something is written.
    func reserve() throws(FileError) {
        if with({ $0.blockage }) == .exhausted { throw Blockage.exhausted.error }
    }

    func print(_ bytes: SecretBytes) throws(FileError) {
        let blockage = with { state -> Blockage? in
            if bytes.count > 0 { state.signal = state.signalWhilePrinting }
            if state.blockage == nil { state.output += bytes.revealed() }
            return state.blockage
        }
        // A full disk is detected only with the first byte, as is a reader that closes the stream
        // later.
        if let blockage, [.closed, .deserted].contains(blockage) || bytes.count > 0 {
            throw blockage.error
        }
    }
}
