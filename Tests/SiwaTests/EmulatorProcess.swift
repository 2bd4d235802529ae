import Foundation
import SIWACrypto
import SIWACurlTransport
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

/// A `siwa-emulator` with a folder, keys, a certificate and a port of its own.
///
/// Starting one takes a third of a second of computing, most of it for the prime numbers of its keys.
/// Tests that leave nothing behind but what a reset removes therefore use one after another.
final class EmulatorProcess: Sendable {
    /// What `init` made is in its subfolder `apple`.
    let folder: TemporaryFolder
    let url: String
    let program: RunningProgram
    /// Trusts its certificate.
    let transport: CurlTransport
    private let usesTLS: Bool

    /// Those that no test uses now.
    private static let idle = Mutex<[EmulatorProcess]>([])
    private static let willKillIdle: Void = {
        atexit { EmulatorProcess.idle.withLock { $0 = [] } }
    }()

    /// Starts one.
    ///
    /// - Parameter configure: changes what `init` made before it is served.
    init(usesTLS: Bool, configure: (TemporaryFolder) throws -> Void = { _ in }) async throws {
        self.usesTLS = usesTLS
        folder = try TemporaryFolder()
        let emulator = try Executable.product("siwa-emulator")
        let made = try await emulator.run("init", folder.path("apple"))
        try #require(made.exitCode == 0, "\(made)")
        try configure(folder)
        program = try emulator.start(
            Executable.Call(
                [
                    "serve", folder.path("apple"), "--port", "0", "--ready-file",
                    folder.path("ready"),
                ] + (usesTLS ? ["--tls"] : []), limit: .seconds(86_400)))
        let folder = folder
        try await eventually("the emulator is ready") {
            (try? folder.contents("ready"))?.isEmpty == false
        }
        url =
            String(decoding: try folder.contents("ready"), as: UTF8.self)
            .split(separator: "\n").first.map(String.init) ?? ""
        transport = try CurlTransport(authorityFile: folder.path("apple/ca.pem"))
    }

    deinit { program.end() }

    /// A new emulator, or one that was reset.
    static func shared(usesTLS: Bool) async throws -> EmulatorProcess {
        let idle = idle.withLock { all in
            all.firstIndex { $0.usesTLS == usesTLS }.map { all.remove(at: $0) }
        }
        guard let idle else { return try await EmulatorProcess(usesTLS: usesTLS) }
        _ = try await idle.control(.post, "reset", nil)
        return idle
    }

    /// Lets the next test use it.
    func giveBack() {
        Self.willKillIdle
        Self.idle.withLock { $0.append(self) }
    }

    /// A control request.
    func control(_ method: HTTPRequest.Method, _ name: String, _ body: JSON?) async throws -> JSON {
        let response = try await transport.send(
            HTTPRequest(
                method: method, url: "\(url)/emulator/\(name)",
                fields: [HTTPField("Content-Type", "application/json")],
                body: SecretBytes(body?.bytes ?? [])), timeout: .seconds(20))
        try #require(
            response.status == 200, "\(name): \(String(decoding: response.body, as: UTF8.self))")
        return try JSON(response.body)
    }
}
