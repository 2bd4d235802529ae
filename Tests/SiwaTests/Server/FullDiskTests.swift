import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// A server with a full disk: it answers 503, continues, and keeps everything that it acknowledged.
@Suite(.blocking) struct FullDiskTests {
    @Test func `while the disk is full, nothing is acknowledged and nothing is lost`() async throws
    {
        let fixture = try await ServerFixture()
        let disk = try SmallDisk(fixture.apple.folder.path("disk"))
        // Machines may not let a test mount anything.
        guard try await disk.mount() else { return }
        let room: () throws -> Void = { try disk.empty() }
        try await check(fixture, vault: try disk.place(fixture.apple.folder.path("vault.db"))) {
            _ in
            try disk.fill()
            return room
        }
        try await disk.unmount()
    }

    @Test func `a file size limit is treated as a full disk`() async throws {
        guard let prlimit = Executable.installed("prlimit") else { return }
        let fixture = try await ServerFixture()
        let log = fixture.apple.folder.path("vault.db-wal")
        try await check(fixture, vault: fixture.apple.folder.path("vault.db")) { server in
            func limit(_ bytes: String) async throws {
                let result = try await prlimit.run(
                    "--pid", "\(server.program.pid)", "--fsize=\(bytes):")
                try #require(result.exitCode == 0, "\(result)")
            }
            let size = try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
            try await limit(String(try #require(size)))
            return { try await limit("unlimited") }
        }
    }

    @Test func `check exits as serve does on a full disk, and warns of one that is nearly full`()
        async throws
    {
        let fixture = try await ServerFixture()
        let disk = try SmallDisk(fixture.apple.folder.path("disk"))
        // Machines may not let a test mount anything.
        guard try await disk.mount() else { return }
        let vault = try disk.place(fixture.apple.folder.path("vault.db"))
        let environment = ["SIWA_VAULT_URL": "sqlite:\(vault)"]
        try fixture.configure(fixture.listeners)
        let low = try await fixture.run("check", environment: environment)
        #expect(low.ending == .exit(0), "\(low)")
        #expect(low.errors.contains("MiB are free where the vault is"), "\(low)")
        try disk.fill()
        for command in ["check", "serve"] {
            let full = try await fixture.run(command, environment: environment)
            #expect(full.ending == .exit(75), "\(full)")
            #expect(full.errors.contains("KiB are free where the vault is"), "\(full)")
        }
        try await disk.unmount()
    }

    /// - Parameter fill: fills the disk, and answers what makes room again.
    private func check(
        _ fixture: ServerFixture, vault: String,
        _ fill: (ServerProcess) async throws -> () async throws -> Void
    ) async throws {
        let environment = ["SIWA_VAULT_URL": "sqlite:\(vault)"]
        let signer = try NotificationSigner()
        try fixture.apple.folder.write("apple/keys.json", signer.keySet.text)
        try fixture.configure(fixture.listeners + [.init("jwks_file", "keys.json")])
        let server = try await fixture.serve(environment: environment)
        var acknowledged: Set<String> = []
        func post(_ numbers: ClosedRange<Int>) async throws -> Set<Int> {
            var statuses: Set<Int> = []
            for number in numbers {
                let id = "event-\(number)"
                let answer = try await server.post(try signer.body(id, about: "user\(number)"))
                if answer.status == 200 { acknowledged.insert(id) }
                statuses.insert(answer.status ?? 0)
            }
            return statuses
        }
        #expect(try await post(1...20) == [200])
        let makeRoom = try await fill(server)
        #expect(try await post(21...60).contains(503))
        #expect(try await post(61...80) == [503])
        #expect(try await server.call("metrics", "GET", "/healthz").status == 200)
        #expect(try await server.call("metrics", "GET", "/metrics").status == 200)
        try await makeRoom()
        try await eventually("it receives again") { try await post(81...81) == [200] }
        #expect(try await post(82...100) == [200])
        #expect(try await server.stop().ending == .exit(0))
        let events = try await fixture.inbox(environment)
        let stored = Set(events.compactMap { $0["jti"]?.string })
        let lost = acknowledged.subtracting(stored)
        #expect(lost == [])
        #expect(acknowledged.count >= 40)
    }
}

/// A file system of a few megabytes.
private struct SmallDisk {
    private let path: String

    init(_ path: String) throws {
        self.path = path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
    }

    /// False where this user may not mount.
    func mount() async throws -> Bool {
        guard geteuid() == 0, let mount = Executable.installed("mount") else { return false }
        return try await mount.run("-t", "tmpfs", "-o", "size=8m", "tmpfs", path).exitCode == 0
    }

    func unmount() async throws {
        _ = try await Executable.installed("umount")?.run("-l", path)
    }

    /// Moves a vault here.
    func place(_ vault: String) throws -> String {
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: vault + suffix) {
            try FileManager.default.copyItem(
                atPath: vault + suffix, toPath: "\(path)/vault.db\(suffix)")
        }
        return "\(path)/vault.db"
    }

    /// Leaves no byte.
    func fill() throws {
        let file = open("\(path)/ballast", O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        for size in [65_536, 4096, 1] {
            let bytes = [UInt8](repeating: 0x2E, count: size)
            while write(file, bytes, size) == size {}
        }
    }

    func empty() throws { try FileManager.default.removeItem(atPath: "\(path)/ballast") }
}
