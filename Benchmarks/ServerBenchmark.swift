import Glibc
import SIWALifecycle

/// siwa-server and its peers, each on one processor, and the requests on another.
extension Benchmark {
    /// Notifications: each is on disk before it is answered.
    static func notifications(_ material: ServerMaterial) -> Benchmark {
        let path = "/apple/notifications"
        func siwa(_ name: String, _ kind: String) -> Row {
            Row(name: name) {
                try sample(
                    material.siwa(kind), Load(address: .port(Fixture.port), path: path),
                    material.notifications)
            }
        }
        return Benchmark(
            name: "notifications",
            title: "notifications kept before they are answered, 64 connections",
            unit: "notifications",
            rows: [
                siwa("siwa-server, SQLite", "notify"),
                siwa("siwa-server, SQLite, delivering them", "deliver"),
                python("Python, a commit each", material, path, material.notifications),
                node("Node, a sync each", material, path, material.notifications),
            ],
            goals: [
                Goal(
                    .rate, of: "siwa-server, SQLite",
                    against: "Python, a commit each (uvicorn, PyJWT)", must: 5, stretch: 6),
                Goal(
                    .rate, of: "siwa-server, SQLite", against: "Node, a sync each", must: 2,
                    stretch: 2.8),
                Goal(
                    .processor, of: "siwa-server, SQLite",
                    against: "Python, a commit each (uvicorn, PyJWT)", must: 0.22, stretch: 0.16),
            ])
    }

    /// Identity tokens verified by request.
    static func verifyRequests(_ material: ServerMaterial) -> Benchmark {
        let path = "/v1/verify"
        return Benchmark(
            name: "verify-requests",
            title: "identity tokens verified by POST /v1/verify, 64 connections", unit: "tokens",
            rows: [
                Row(name: "siwa-server, TCP") {
                    let server = try material.siwa("tcp")
                    return try sample(
                        server,
                        Load(
                            address: .port(Fixture.port), path: path, token: material.token()),
                        material.tokens)
                },
                Row(name: "siwa-server, Unix socket") {
                    try sample(
                        material.siwa("unix"),
                        Load(address: .socket(material.socket), path: path), material.tokens)
                },
                OpenSSLSpeed.row("rsa2048", column: 4, "verifications alone", isOfProcessor: true),
                python("Python", material, path, Array(material.tokens.prefix(3_000))),
            ],
            goals: [
                Goal(
                    .perProcessor, of: "siwa-server, TCP",
                    against: "openssl speed rsa2048, verifications alone", must: 0.40,
                    stretch: 0.50),
                Goal(
                    .perProcessor, of: "siwa-server, Unix socket",
                    against: "openssl speed rsa2048, verifications alone", must: 0.45,
                    stretch: 0.55),
            ])
    }

    private static func python(
        _ name: String, _ material: ServerMaterial, _ path: String, _ bodies: [[UInt8]]
    ) -> Row {
        Python.row("\(name) (uvicorn, PyJWT)", needs: "uvicorn, starlette, jwt") { python in
            try sample(
                material.peer([python, material.script("receiver.py")], store: "store.db"),
                Load(address: .port(Fixture.port), path: path), bodies)
        }
    }

    private static func node(
        _ name: String, _ material: ServerMaterial, _ path: String, _ bodies: [[UInt8]]
    ) -> Row {
        guard let node = Child.installed("node") else { return Row(name: name, run: nil) }
        return Row(name: name) {
            try sample(
                material.peer([node, material.script("receiver.js")], store: "store.ndjson"),
                Load(address: .port(Fixture.port), path: path), bodies)
        }
    }

    /// Starts a server, warms it up, and measures it.
    private static func sample(
        _ server: MeasuredServer, _ load: Load, _ bodies: [[UInt8]]
    ) throws -> Sample {
        defer { server.stop() }
        try server.wait(for: load)
        let warming = bodies.count / 10
        _ = try load.send(bodies[..<warming])
        let before = server.cpuSeconds
        let outcome = try load.send(bodies[warming...])
        guard outcome.refused == 0 else {
            throw BenchmarkError("\(outcome.refused) requests were refused")
        }
        var sample = Sample(rate: Double(outcome.count) / outcome.seconds)
        sample.cpu = (server.cpuSeconds - before) / Double(outcome.count) * 1000
        sample.peak = server.peak
        sample.tail = outcome.tail / outcome.median
        return sample
    }
}

/// How often a notification makes the disk write what it holds (fsync): of a commit each at least
/// once, of commits that are shared less often.
enum SyncCount {
    /// Prints it with one connection and with 64.
    static func measure(_ material: ServerMaterial) throws {
        guard let strace = Child.installed("strace") else {
            return print("\nskipped: syncs a notification, because strace is not installed")
        }
        print("\nsyncs a notification\n")
        for (connections, count) in [(1, 300), (64, 3_000)] {
            let trace = material.file("syncs.txt")
            let server = try material.siwa(
                "notify",
                wrapped: [
                    strace, "-I", "2", "-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", trace,
                ])
            defer { server.stop() }
            var load = Load(address: .port(Fixture.port), path: "/apple/notifications")
            load.connections = connections
            try server.wait(for: load)
            let before = try syncs(trace)
            _ = try load.send(material.notifications[..<count])
            let syncs = Double(try syncs(trace) - before) / Double(count)
            print("siwa-server, \(connections) connections: \(shown(syncs, digits: 3))")
        }
    }

    private static func syncs(_ trace: String) throws -> Int {
        try Child.run(["cat", trace]).output.split(separator: "\n")
            .count { $0.contains("sync(") }
    }
}

/// A server while it is measured.
struct MeasuredServer {
    let pid: pid_t
    /// A process that it was started with.
    var other: pid_t?

    /// Waits until it takes connections.
    func wait(for load: Load) throws {
        for _ in 0..<200 {
            if load.isOpen { return }
            usleep(50_000)
        }
        throw BenchmarkError("a server does not answer")
    }

    /// The processor time that it has used.
    var cpuSeconds: Double {
        // After the name, which ends with the last bracket, the 12th and 13th field.
        let fields = text("stat").reversed().prefix { $0 != ")" }.reversed()
        let numbers = String(fields).split(separator: " ").dropFirst(11).prefix(2)
        return numbers.compactMap { Double($0) }.reduce(0, +) / Double(sysconf(CInt(_SC_CLK_TCK)))
    }

    /// The most memory it had, in KiB.
    var peak: Int? {
        text("status").split(separator: "\n").first { $0.hasPrefix("VmHWM") }
            .flatMap { Int($0.filter(\.isNumber)) }
    }

    func stop() {
        Child.end(pid)
        if let other { Child.end(other) }
    }

    private func text(_ name: String) -> String {
        (try? Child.run(["cat", "/proc/\(pid)/\(name)"]).output) ?? ""
    }
}

/// What the servers are sent, and how they are started.
struct ServerMaterial {
    private let fixture: Fixture
    let notifications: [[UInt8]]
    let tokens: [[UInt8]]

    init(_ fixture: Fixture) throws {
        self.fixture = fixture
        (notifications, tokens) = try fixture.serverRequests()
    }

    /// The Unix socket of the API.
    var socket: String { fixture.file("server/api.sock") }

    /// A file beside them.
    func file(_ name: String) -> String { fixture.file(name) }

    /// A script of the peers.
    func script(_ name: String) -> String { "\(fixture.peers)/\(name)" }

    /// The API token of siwa-server.
    func token() throws -> String {
        try Child.run(["cat", fixture.file("siwa-template/token")]).output.trimmed
    }

    /// Starts siwa-server with an empty vault.
    func siwa(_ kind: String, wrapped: [String] = []) throws -> MeasuredServer {
        setenv("PROGRAMS", fixture.programs, 1)
        setenv("CLIENT", Fixture.client.rawValue, 1)
        setenv("SINK_PORT", String(Fixture.port + 1), 1)
        let python = kind == "deliver" ? Child.installed("python3") : nil
        let application = try python.map {
            try Child.start([$0, script("application.py"), String(Fixture.port + 1)])
        }
        let start = "\(fixture.peers)/../server/start.sh"
        var server = try started(
            wrapped + [start, try store(), fixture.path, String(Fixture.port), kind])
        server.other = application
        return server
    }

    /// Starts a peer with an empty store.
    func peer(_ command: [String], store name: String) throws -> MeasuredServer {
        let store = try store()
        return try started(
            command + [String(Fixture.port), fixture.file("jwks.json"), "\(store)/\(name)"])
    }

    private func started(_ command: [String]) throws -> MeasuredServer {
        MeasuredServer(pid: try Child.start(["taskset", "-c", "0"] + command, isQuiet: true))
    }

    private func store() throws -> String {
        let folder = fixture.file("server")
        _ = try Child.run(["rm", "-rf", folder])
        mkdir(folder, 0o700)
        return folder
    }
}
