import SIWAJOSE
import SIWALifecycle
import Synchronization
import Testing

@testable import SIWAApplication
@testable import SIWACLI
@testable import SIWASystem

/// A machine with a cache of Apple's keys, and a clock that the test moves.
struct KeySetHarness: Sendable {
    let memory = Memory()
    let server: KeyServer
    /// The monotonic clock, which waiting moves.
    private let elapsed = Stopwatch()

    static let file = "/home/me/.cache/siwa/keys-https:appleid.apple.com.json"

    init(_ server: KeyServer) {
        self.server = server
        memory.with { $0.variables = ["HOME": "/home/me"] }
    }

    /// The lines on standard error; reading removes them.
    var said: [String] {
        memory.with { state in
            defer { state.errors = [] }
            return state.errors
        }
    }

    /// The cache's file, read as JSON.
    var kept: JSON? {
        memory.with { $0.files[Self.file] }.flatMap { try? JSON($0.contents) }
    }

    func later(_ seconds: Int) { memory.with { $0.now = $0.now + .seconds(seconds) } }

    /// The set that a command gets which looks for `kid`.
    @discardableResult
    func keySet(
        _ kid: String? = nil, offline: Bool = false, quiet: Bool = false,
        change: (inout GlobalOptions) -> Void = { _ in }
    ) async throws -> KeySet {
        try await keys(offline: offline, quiet: quiet, change: change).keySet(holding: kid)
    }

    /// What a command sees, at the start of its run.
    func keys(
        offline: Bool = false, quiet: Bool = false,
        change: (inout GlobalOptions) -> Void = { _ in }
    ) throws -> AppleKeySource {
        var options = GlobalOptions()
        options.output.isQuiet = quiet
        options.maxAttempts = 1
        change(&options)
        let session = try Session(options, in: world)
        return AppleKeySource(try AppleConnection(session), isOffline: offline)
    }

    private var world: World {
        var world = World.refusing
        world.clocks = Clocks(
            now: { [memory] in memory.with { $0.now } }, timekeeper: elapsed.timekeeper)
        world.variables = { [memory] name in memory.with { $0.variables[name] } }
        world.files.read = { [memory] path throws(FileError) in try memory.read(path) }
        world.files.readRegular = { [memory] path throws(FileError) in try memory.read(path) }
        world.files.write = { [memory] bytes, path, _ throws(FileError) in
            memory.write(bytes, to: path)
        }
        world.files.exists = { _ in false }
        world.files.makeFolder = { _ in }
        world.files.tryLock = { [memory] path in memory.lock(path) }
        world.errorLine = { [memory] line in memory.with { $0.errors.append(line) } }
        world.transport = { [server] _ in FeedCarrier(server) }
        return world
    }
}
