internal import SIWAApplication
internal import SIWACrypto
internal import SIWAHTTPServer
internal import SIWALifecycle
internal import SIWASystem

struct OpenListener: Sendable {
    let listener: RouteTable.Listener
    let server: HTTPServer
    let settings: ListenerSettings
    /// Its address: `127.0.0.1:8765` or `unix:PATH`.
    let address: String

    /// Opens a socket and serves its connections.
    ///
    /// - Throws: ``Diagnosis`` that names the listener.
    init(
        _ table: RouteTable, _ settings: ListenerSettings, _ context: ServerContext,
        in world: ServerWorld
    ) throws(Diagnosis) {
        (listener, self.settings) = (table.listener, settings)
        let identity = try settings.identity(in: world.base)
        if let folder = settings.standardFolder { try Self.make(folder, in: world.base) }
        let socket = try Self.opened(settings.address, table.listener, in: world)
        address = socket.address
        try settings.checkProtection(isLocal: socket.isLocal, of: table.listener)
        let options = Router.Options(
            requiresToken: table.listener == .api && !socket.isUnix,
            isBehindProxy: settings.isBehindProxy)
        let loops = table.listener == .metrics ? 1 : max(min(world.processors, 4), 1)
        server = try Self.serving(
            socket, identity, loops: loops, Router(table, context, options), table.listener)
    }

    private static func make(_ folder: String, in world: World) throws(Diagnosis) {
        do {
            try world.files.makeFolder(folder)
        } catch {
            throw Diagnosis(
                .configuration, "the folder of the API's socket cannot be created: \(error)",
                hints: error.advice(or: "set server.api.listen in the configuration"),
                exitCode: .settings)
        }
    }

    private static func opened(
        _ address: ListenAddress, _ listener: RouteTable.Listener, in world: ServerWorld
    ) throws(Diagnosis) -> ListeningSocket {
        do throws(ServerError) {
            return try ListeningSocket.open(address, inherited: world.inheritedSockets)
        } catch {
            throw Diagnosis(error, of: listener)
        }
    }

    private static func serving(
        _ socket: consuming ListeningSocket, _ identity: TLSIdentity?, loops: Int,
        _ router: Router, _ listener: RouteTable.Listener
    ) throws(Diagnosis) -> HTTPServer {
        do throws(ServerError) {
            return try HTTPServer(
                socket, identity: identity, loops: loops,
                .task { request in await router.respond(to: request) })
        } catch {
            throw Diagnosis(error, of: listener)
        }
    }

    /// Reloads the TLS files.
    ///
    /// - Throws: ``Diagnosis``; the old files then stay in use.
    func reload(in world: World) throws(Diagnosis) {
        guard let identity = try settings.identity(in: world) else { return }
        do throws(ServerError) {
            try server.reload(identity)
        } catch {
            throw Diagnosis(error, of: listener)
        }
    }
}

extension ListenerSettings {
    /// Reads the TLS files; nil without TLS.
    func identity(in world: World) throws(Diagnosis) -> TLSIdentity? {
        try tls.map { files throws(Diagnosis) in try TLSIdentity(files, in: world) }
    }

    /// Fails if the TLS files cannot be used, or the address needs some.
    func check(in world: World, of listener: RouteTable.Listener) async throws(Diagnosis) {
        let identity = try identity(in: world)
        let isLocal: Bool?
        do throws(ServerError) {
            isLocal = try address.isLocal()
            if let identity { try await HTTPServer.check(identity) }
        } catch {
            throw Diagnosis(error, of: listener)
        }
        if let isLocal { try checkProtection(isLocal: isLocal, of: listener) }
    }
}

extension TLSIdentity {
    fileprivate init(
        _ files: ListenerSettings.TLSFiles, in world: World
    ) throws(Diagnosis) {
        func read(_ path: String) throws(Diagnosis) -> String {
            do {
                let contents = try world.files.read(path).contents
                return String(decoding: contents.revealed(), as: UTF8.self)
            } catch {
                throw Diagnosis(
                    .configuration, "a TLS file cannot be read: \(error)",
                    hints: error.advice(or: "fix server.….tls in the configuration"),
                    exitCode: .settings)
            }
        }
        self.init(certificate: try read(files.certificate), key: try read(files.key))
    }
}

extension Diagnosis {
    /// Explains why a listener cannot be opened.
    init(_ error: ServerError, of listener: RouteTable.Listener) {
        let place = "server.\(listener.rawValue)"
        let hint =
            switch error {
            case .address: "such as 127.0.0.1:8765"
            case .inUse: "stop the process that listens there, or set another port"
            case .refused: "set an address of this machine and a port of 1024 or higher"
            case .socketInUse: "stop it, or set another path"
            case .socket: "set a path in a folder that this user can write to"
            case .notInherited(let name):
                """
                start the .socket unit that has FileDescriptorName=\(name) first, such as \
                'systemctl start siwa-server.socket', then this server
                """
            case .notStarted:
                "check that tls.certificate and tls.key are PEM files of the same key pair"
            }
        self.init(
            .configuration, "\(place).listen: \(error)", hints: [hint], exitCode: .settings)
    }
}
