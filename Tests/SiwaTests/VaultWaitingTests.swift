import Glibc
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// A database that no longer answers: the code is spent, so the tokens must be printed.
@Suite(.blocking) struct VaultWaitingTests {
    @Test(
        .enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"),
        .timeLimit(.minutes(5)), arguments: [true, false])
    func `if a COMMIT is not answered, it is unknown whether the token was stored`(
        _ reachesServer: Bool
    ) async throws {
        let server = try await PostgresServer.shared()
        let fixture = try await VaultFixture(.postgres, Population(usual: 1, all: .migrates))
        let text = "INSERT INTO vault_token"
        let proxy = try PostgresProxy(
            server,
            reachesServer ? .afterCommit(of: text, count: 1) : .beforeCommit(of: text, count: 1))
        let result = try await exchange(fixture, url: proxy.url(fixture.databaseName))
        #expect(proxy.hasStopped)
        try checkNotStored(result, fixture)
        #expect(result.errors.contains("unknown whether the database committed"), "\(result)")
        #expect(try fixture.opened().isEmpty == !reachesServer)
    }

    @Test(
        .enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"),
        .timeLimit(.minutes(5)))
    func `if the database stops while Apple answers, the command ends in time`() async throws {
        let server = try await PostgresServer()
        let fixture = try await VaultFixture(
            .postgres, Population(usual: 1, all: .migrates), on: server)
        try await fixture.apple.post("faults", ["endpoint": "/auth/token", "delay": "10s"])
        let program = try await start(fixture, url: fixture.url)
        try await eventually("Apple has the code") {
            try await !fixture.apple.requests().isEmpty
        }
        try await server.signal(SIGSTOP)
        let result = try await program.result()
        try await server.signal(SIGCONT)
        try checkNotStored(result, fixture)
    }

    @Test(
        .enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"),
        .timeLimit(.minutes(5)))
    func `if the database is stopped from the beginning, no code is spent`() async throws {
        let server = try await PostgresServer()
        let fixture = try await VaultFixture(
            .postgres, Population(usual: 1, all: .migrates), on: server)
        try await server.signal(SIGSTOP)
        let result = try await exchange(fixture, url: fixture.url)
        try await server.signal(SIGCONT)
        #expect(result.exitCode == 75, "\(result)")
        #expect(result.output.isEmpty)
        #expect(try await fixture.apple.requests().isEmpty)
    }

    @Test(
        .enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"),
        .timeLimit(.minutes(5)))
    func `a batch that loses its vault reports it, and the next run completes its work`()
        async throws
    {
        let server = try await PostgresServer()
        let fixture = try await VaultFixture(
            .postgres, Population(usual: 3, all: .migrates), on: server)
        _ = try await fixture.store([1, 2, 3])
        let fault: JSON = ["endpoint": "/auth/revoke", "delay": "10s", "count": 3]
        try await fixture.apple.post("faults", fault)
        let call = ["batch", "revoke", "--vault", "--lease", "15s"]
        let batch = try fixture.apple.start(call, environment: fixture.environment)
        try await eventually("Apple has the revocations") {
            try await fixture.apple.requests(to: "/auth/revoke").count == 3
        }
        try await server.stop()
        let lost = try await batch.result()
        try await server.start()
        #expect(lost.exitCode == 75 && lost.output.isEmpty, "\(lost)")
        #expect(lost.errors.contains("siwa: vault: "), "\(lost)")
        try await eventually("the next run has noted what Apple revoked") {
            let next = try await fixture.apple.siwa(call, environment: fixture.environment)
            // All items are leased until the leases of the lost run end.
            #expect([0, 75].contains(next.exitCode), "\(next)")
            return try next.exitCode == 0 && fixture.vault().store.counts(of: nil) == [.revoked: 3]
        }
        #expect(try await fixture.apple.requests(to: "/auth/revoke").count == 3)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a command waits for a locked vault no longer than its timeout`()
        async throws
    {
        let fixture = try await VaultFixture(.sqlite, Population(usual: 1, all: .migrates))
        let other = try fixture.vault()
        let lock = try WriteLock(of: fixture.apple.folder.path("vault.db"))
        let result = try await exchange(fixture, url: fixture.url)
        try checkNotStored(result, fixture)
        #expect(result.errors.contains("another process holds the vault"), "\(result)")
        withExtendedLifetime((other, lock)) {}
    }

    @Test(.timeLimit(.minutes(5)), arguments: VaultBackend.available)
    func `if fetching keys takes the whole timeout, the token can still be stored`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await VaultFixture(backend, Population(usual: 1, all: .migrates))
        try await fixture.apple.post("faults", ["endpoint": "/auth/keys", "delay": "30s"])
        let result = try await start(fixture, url: fixture.url, timeout: "10s").result()
        #expect(result.exitCode == 0, "\(result)")
        #expect(try fixture.opened().count == 1)
    }

    @Test(
        .enabled(if: geteuid() == 0, "needs root, to replace /etc/resolv.conf for one process"),
        .timeLimit(.minutes(5)))
    func `a command waits for a silent name server no longer than its timeout`()
        async throws
    {
        let folder = try TemporaryFolder()
        let silence = try SilentNameServer()
        let resolver = try folder.write(
            "resolv.conf", "nameserver \(silence.address)\noptions timeout:30 attempts:5\n")
        let siwa = try Executable.product("siwa")
        let result = try await Executable(path: "/usr/bin/unshare").run(
            "-m", "sh", "-c", "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\"", resolver,
            siwa.path, "vault", "list", "--timeout", "2s", "--vault",
            "postgresql://siwa@db.example.test/siwa",
            environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": folder.path])
        #expect(result.exitCode == 75, "\(result)")
        #expect(result.errors.contains("did not answer within 2 s"), "\(result)")
    }

    private func start(
        _ fixture: VaultFixture, url: String, timeout: String = "25s"
    ) async throws -> RunningProgram {
        let code = try await fixture.apple.code([.init("user", .string(fixture.people.name(1)))])
        return try fixture.apple.start(
            ["exchange", "--code", "-", "--store", "--timeout", timeout], input: code,
            environment: fixture.environment.merging(["SIWA_VAULT_URL": url]) { $1 })
    }

    private func exchange(_ fixture: VaultFixture, url: String) async throws -> ProgramResult {
        try await start(fixture, url: url).result()
    }

    /// SQLite locks a file before it opens the file's log.
    @Test func `a process that begins to use the vault is no fault of its log`() async throws {
        let fixture = try await VaultFixture(.sqlite, Population(usual: 1, all: .migrates))
        let file = open(String(fixture.url.dropFirst("sqlite:".count)), O_RDWR | O_CLOEXEC)
        defer { close(file) }
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(F_RDLCK), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (0x4000_0002, 510)
        try #require(file >= 0 && fcntl(file, F_SETLK, &lock) == 0)
        async let result = fixture.apple.siwa(["vault", "list"], environment: fixture.environment)
        try await Task.sleep(for: .milliseconds(300))
        lock.l_type = Int16(F_UNLCK)
        try #require(fcntl(file, F_SETLK, &lock) == 0)
        #expect(try await result.exitCode == 0)
    }

    /// The tokens were printed, and the exit code says that they were not stored.
    private func checkNotStored(_ result: ProgramResult, _ fixture: VaultFixture) throws {
        #expect(result.exitCode == 1, "\(result)")
        #expect(result.errors.contains("siwa: not_stored:"), "\(result)")
        let answer = try result.json
        #expect(answer["stored"]?.boolean == false)
        #expect(answer["refresh_token"]?.string?.isEmpty == false)
    }
}

extension VaultFixture {
    /// The database's name on its server.
    var databaseName: String {
        String(url.split(separator: "?").first?.split(separator: "/").last ?? "")
    }
}

/// Keeps other processes from writing to an SQLite file, as a process does that hangs in a
/// transaction (SQLite's documentation, "WAL-mode File Format", section 2.3).
struct WriteLock {
    private let memory: CInt

    /// - Parameter path: of a file in WAL mode that a connection of this process keeps open.
    init(of path: String) throws {
        memory = open(path + "-shm", O_RDWR | O_CLOEXEC)
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (120, 1)
        try #require(memory >= 0 && fcntl(memory, F_SETLKW, &lock) == 0)
    }
}

/// A name server that does not answer.
private final class SilentNameServer {
    let address = "127.0.0.77"
    private let socket: CInt

    init() throws {
        socket = Glibc.socket(AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        (name.sin_family, name.sin_port) = (sa_family_t(AF_INET), UInt16(53).bigEndian)
        name.sin_addr.s_addr = inet_addr(address)
        let code = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(code == 0, "port 53 of \(address) cannot be had: error \(errno)")
    }

    deinit { close(socket) }
}
