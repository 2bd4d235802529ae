import Glibc

/// A PostgreSQL server on a Unix socket in a temporary folder, with tests for its only clients.
///
/// Machines may lack PostgreSQL: gate tests with
/// `.enabled(if: PostgresServer.isAvailable, "…")`.
package final class PostgresServer: Sendable {
    private let folder: TemporaryFolder
    private let programs: String
    private let keeper: RunningProgram
    private let readiness = Readiness()
    /// The port of 127.0.0.1 that it also listens on; nil without TLS.
    package let port: UInt16?

    /// Whether PostgreSQL's server is installed.
    package static var isAvailable: Bool { newestPrograms != nil }

    /// The server that all tests of this process share.
    package static func shared() async throws -> PostgresServer { try await theShared.value }

    private static let theShared = Task { try await PostgresServer() }

    /// A folder whose `data` is an empty cluster, of which every server gets a copy, and what
    /// removes it at the end of this process.
    private static let cluster = Task {
        let folder = try TemporaryFolder()
        let asUser = try giveAway(folder.path)
        let keeper = try startKeeper(creation, [folder.path, newestPrograms ?? ""] + asUser)
        try await Readiness().wait(for: keeper)
        return (folder: folder, keeper: keeper)
    }

    private static func startKeeper(_ script: String, _ arguments: [String]) throws
        -> RunningProgram
    {
        var call = Executable.Call(
            ["-c", script, "postgres-keeper"] + arguments,
            environment: ["PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"],
            input: .pipe, limit: .seconds(86400))
        call.endsWithInput = true
        return try Executable(path: "/bin/sh").start(call)
    }

    /// Starts a server of its own, for a test that stops it. It ends with its last owner, and
    /// with this process in any case.
    ///
    /// - Parameter identity: also listens on a port of 127.0.0.1, where it uses TLS if asked to.
    package init(_ identity: TLSIdentity? = nil) async throws {
        guard let programs = Self.newestPrograms else {
            throw SystemFailure("initdb", code: ENOENT)
        }
        self.programs = programs
        let cluster = try await Self.cluster.value.folder
        let folder = try TemporaryFolder()
        self.folder = folder
        let asUser = try Self.giveAway(folder.path)
        port = try identity.map { try Self.prepareTLS($0, in: folder) }
        keeper = try Self.startKeeper(Self.script, [folder.path, programs, cluster.path] + asUser)
        try await readiness.wait(for: keeper)
    }

    deinit { try? keeper.write("quit\n") }

    /// Ends the server; its clients' connections break.
    package func stop() async throws { try await tell("stop") }

    /// Kills the server, as a crash would; its clients' connections break.
    package func crash() async throws { try await tell("crash") }

    /// Starts it again.
    package func start() async throws { try await tell("start") }

    /// Starts it again as a standby, which is read-only.
    package func demote() async throws {
        try await stop()
        try folder.write("data/standby.signal", "")
        try await start()
    }

    private func tell(_ word: String) async throws {
        try keeper.write("\(word)\n")
        try await readiness.wait(for: keeper)
    }

    /// Makes an empty database.
    ///
    /// - Parameter options: what follows its name in the statement.
    /// - Returns: its URL.
    package func database(_ options: String = "") async throws -> String {
        let name = "test\(UInt64.random(in: 0 ... .max))"
        _ = try await run("CREATE DATABASE \(name) \(options)", on: url("postgres"))
        return url(name)
    }

    /// The URL of a database of this name, for a superuser or another user.
    package func url(_ database: String, user: String = "siwa") -> String {
        "postgresql://\(user)@/\(database)?host=\(folder.path)"
            + (port.map { "&port=\($0)" } ?? "")
    }

    /// The Unix socket that it listens on.
    package var socketPath: String { folder.path(".s.PGSQL.\(port ?? 5432)") }

    /// What the server wrote about itself and its clients.
    package func log() throws -> String {
        String(decoding: try folder.contents("log"), as: UTF8.self)
    }

    /// Sends a signal to every process of the server.
    package func signal(_ number: CInt) async throws {
        let pid =
            String(decoding: try folder.contents("data/postmaster.pid"), as: UTF8.self)
            .split(separator: "\n").first.map { String($0) } ?? ""
        let shell = Executable(path: "/bin/sh")
        let result = try await shell.run(
            "-c",
            "kill -\(number) \(pid) && for child in $(ps -o pid= --ppid \(pid)); do "
                // Some children have ended already.
                + "kill -\(number) $child 2>/dev/null || :; done",
            environment: ["PATH": "/usr/bin:/bin"])
        guard result.exitCode == 0 else { throw Refused(description: "\(result)") }
    }

    /// Runs a statement with psql.
    ///
    /// - Returns: the rows, a line each.
    package func run(_ sql: String, on url: String) async throws -> String {
        let result = try await Executable(path: "\(programs)/psql").run(
            "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql)
        guard result.exitCode == 0 else { throw Refused(description: "\(sql): \(result)") }
        return result.output
    }

    /// The server refused a statement.
    package struct Refused: Error, CustomStringConvertible {
        /// Which, and why.
        package let description: String
    }
}

// The program's path, and the user it runs as.
extension PostgresServer {
    /// The folder with `initdb` of the newest version.
    private static let newestPrograms: String? = {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob("/usr/lib/postgresql/*/bin/initdb", 0, nil, &found) == 0 else { return nil }
        let paths = (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0] }
            .map { String(cString: $0).dropLast("/initdb".count) }
        return paths.max { version($0) < version($1) }.map { String($0) }
    }()

    private static func version(_ folder: Substring) -> Int {
        folder.split(separator: "/").compactMap { Int($0) }.first ?? 0
    }

    /// Makes the folder the user's who Debian's package adds, and answers the command that
    /// becomes this user: PostgreSQL refuses to run as root. Other users need none.
    private static func giveAway(_ folder: String) throws -> [String] {
        guard geteuid() == 0 else { return [] }
        guard let user = getpwnam("postgres")?.pointee else {
            throw SystemFailure("getpwnam postgres", code: ENOENT)
        }
        _ = try checked("chown") { chown(folder, user.pw_uid, user.pw_gid) }
        return [
            "setpriv", "--reuid=\(user.pw_uid)", "--regid=\(user.pw_gid)", "--clear-groups", "--",
        ]
    }

    /// Writes the certificate and chooses a port.
    private static func prepareTLS(
        _ identity: TLSIdentity, in folder: TemporaryFolder
    ) throws -> UInt16 {
        let port = try bindToLoopback().port
        try folder.write("certificate.pem", identity.certificate)
        let key = try folder.write("key.pem", identity.key)
        try folder.write(
            "options",
            """
            -p \(port) -c listen_addresses=127.0.0.1 -c ssl=on -c log_connections=on \
            -c ssl_cert_file=\(folder.path)/certificate.pem -c ssl_key_file=\(key)
            """)
        try folder.write("port", "\(port)")
        for name in ["certificate.pem", "key.pem"] {
            guard geteuid() == 0, let user = getpwnam("postgres")?.pointee else { break }
            _ = try checked("chown") { chown(folder.path(name), user.pw_uid, user.pw_gid) }
        }
        return port
    }

    /// Makes a cluster; removes it when its input is closed. The collation does not sort texts by
    /// their bytes, so that a store must ask for that order.
    private static let creation = """
        folder=$1 programs=$2; shift 2
        "$@" "$programs/initdb" -D "$folder/data" -U siwa -A trust -E UTF8 --no-sync \
            --locale=C.UTF-8 --locale-provider=icu --icu-locale=en-US >"$folder/initdb.log" || exit 1
        printf '%s\\n' 'local all locked scram-sha-256' 'host all locked all scram-sha-256' | cat - "$folder/data/pg_hba.conf" >"$folder/hba"
        cat "$folder/hba" >"$folder/data/pg_hba.conf"
        echo done
        read -r word
        rm -rf "$folder"
        """

    /// Keeps the server and carries out commands; ends when its input is closed. It has a database
    /// for each test: autovacuum would start a process for one of them several times a second.
    private static let script = """
        folder=$1 programs=$2 cluster=$3; shift 3
        "$@" cp -a "$cluster/data" "$folder/data" || exit 1
        start() {
            "$@" "$programs/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= \
                $(cat "$folder/options" 2>/dev/null) -c fsync=off -c jit=off -c autovacuum=off \
                -c max_connections=300 \
                -c client_connection_check_interval=1s >>"$folder/log" 2>&1 </dev/null &
            server=$!
            until "$programs/pg_isready" -q -h "$folder" -d postgres -U siwa \
                -p "$(cat "$folder/port" 2>/dev/null || echo 5432)"; do
                kill -0 $server || exit 1
                sleep 0.02
            done
        }
        start "$@"
        echo done
        while read -r word; do
            case $word in
            start) start "$@" ;;
            stop) kill -INT $server; wait $server ;;
            crash) kill -QUIT $server; wait $server ;;
            *) break ;;
            esac
            echo done
        done
        kill -QUIT $server 2>/dev/null
        wait $server
        rm -rf "$folder"
        """
}

/// Counts how often the keeper said that it was done.
private final class Readiness: Sendable {
    private let seen = Locked(0)

    func wait(for keeper: RunningProgram) async throws {
        let wanted = seen.withLock { seen in
            seen += 1
            return seen
        }
        try await eventually("PostgreSQL's server has done it") {
            try keeper.outputSoFar().split(separator: "\n").count >= wanted
        }
    }
}
