import Glibc
import SIWAJOSE

/// A headless Chromium. Starting one takes more than most tests do, so that tests use one after
/// another, each with a profile of its own (a browser context), which disappears with it.
final class BrowserProcess: Sendable {
    private let folder: TemporaryFolder
    private let program: RunningProgram
    let tools: DevTools

    /// Those that no test uses now.
    private static let idle = Locked<[BrowserProcess]>([])
    private static let willKillIdle: Void = {
        atexit { BrowserProcess.idle.withLock { $0 = [] } }
    }()

    private init() async throws {
        guard let executable = Browser.executable else { throw BrowserFailure("not installed") }
        folder = try TemporaryFolder()
        let commands = try Descriptor.pipe()
        let messages = try Descriptor.pipe()
        program = try executable.start(
            Executable.Call(
                [
                    // Its sandbox refuses to run as root; the only pages it sees are ours.
                    "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu",
                    "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                    "--user-data-dir=\(folder.path("profile"))", "about:blank",
                ],
                environment: ["HOME": folder.path, "PATH": "/usr/bin:/bin"],
                limit: .seconds(86_400)),
            passing: [commands.read, messages.write])
        tools = try DevTools(commands: commands.write, messages: messages.read)
    }

    deinit { program.end() }

    /// One that no other test uses.
    static func shared() async throws -> BrowserProcess {
        if let idle = idle.withLock({ $0.popLast() }) { return idle }
        return try await BrowserProcess()
    }

    /// Lets the next test use it.
    func giveBack() {
        guard !program.hasEnded else { return }
        Self.willKillIdle
        Self.idle.withLock { $0.append(self) }
    }
}
