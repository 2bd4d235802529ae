import Glibc
import SIWATestSupport
import Testing

/// pgbouncer in front of a PostgreSQL server, with as few sessions of the server as all clients
/// together need: a batch on a vault is two clients, which keep their sessions in mode `session`.
final class Pooler: Sendable {
    private static let program = "/usr/sbin/pgbouncer"
    private static let port = 6432

    /// Whether pgbouncer is installed.
    static var isAvailable: Bool { PostgresServer.isAvailable && access(program, X_OK) == 0 }

    private let folder: TemporaryFolder
    private let running: RunningProgram

    /// - Parameter mode: when a client gives the session back: `session`, `transaction` or
    ///   `statement`.
    init(_ server: PostgresServer, mode: String) async throws {
        folder = try TemporaryFolder()
        let sockets = server.socketPath.split(separator: "/").dropLast().joined(separator: "/")
        let settings = try folder.write(
            "pgbouncer.ini",
            """
            [databases]
            * = host=/\(sockets) port=5432 user=siwa
            [pgbouncer]
            listen_addr =
            listen_port = \(Self.port)
            unix_socket_dir = \(folder.path)
            auth_type = any
            pool_mode = \(mode)
            default_pool_size = \(mode == "session" ? 2 : 1)
            """)
        var command = [Self.program, settings]
        // pgbouncer refuses to run as root.
        if geteuid() == 0, let user = getpwnam("postgres")?.pointee {
            for path in [folder.path, settings] {
                try #require(chown(path, user.pw_uid, user.pw_gid) == 0)
            }
            command.insert(
                contentsOf: [
                    "/usr/bin/setpriv", "--reuid=\(user.pw_uid)", "--regid=\(user.pw_gid)",
                    "--clear-groups", "--",
                ], at: 0)
        }
        running = try Executable(path: command[0]).start(
            .init(Array(command.dropFirst()), limit: .seconds(600)))
        let socket = folder.path(".s.PGSQL.\(Self.port)")
        try await eventually("pgbouncer listens") { access(socket, F_OK) == 0 }
    }

    deinit { running.signal(9) }

    /// The URL of a database behind it.
    func url(_ database: String) -> String {
        "postgresql://siwa@/\(database)?host=\(folder.path)&port=\(Self.port)"
    }
}
