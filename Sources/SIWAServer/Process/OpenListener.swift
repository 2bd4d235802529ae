internal import SIWAApplication
internal import SIWACrypto
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
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
        let identity = try settings.identity(in: world.base, of: table.listener)
        if let folder = settings.standardFolder { try Self.make(folder, in: world.base) }
        let socket = try Self.opened(settings.address, table.listener, in: world)
        address = socket.address
        try settings.checkProtection(isLocal: socket.isLocal, of: table.listener)
        let options = Router.Options(
            requiresToken: table.listener == .api && !socket.isUnix,
            isBehindProxy: settings.isBehindProxy)
        let loops = table.listener == .metrics ? 1 : max(min(world.processors, 4), 1)
        let receiver = table.listener == .notifications ? context.receiver : nil
        server = try Self.serving(
            socket, identity, loops: loops, Router(table, context, options), table.listener
        ) { receiver?.endTurn() }
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
        _ router: Router, _ listener: RouteTable.Listener,
        _ endTurn: @escaping @Sendable () -> Void
    ) throws(Diagnosis) -> HTTPServer {
        do throws(ServerError) {
            return try HTTPServer(socket, identity: identity, loops: loops, endTurn: endTurn) {
                router.answer($0)
            }
        } catch {
            throw Diagnosis(error, of: listener)
        }
    }

    /// Reloads the TLS files.
    ///
    /// - Throws: ``Diagnosis``; the old files then stay in use.
    func reload(in world: World) throws(Diagnosis) {
        guard let identity = try settings.identity(in: world, of: listener) else { return }
        do throws(ServerError) {
            try server.reload(identity)
        } catch {
            throw Diagnosis(error, of: listener)
        }
    }
}

extension OpenListener {
    /// Why clients cannot connect to it, as a sentence without a full stop; nil if they can.
    var fault: String? {
        server.socketFault.map {
            "the socket of server.\(listener.rawValue), \(address.dropFirst("unix:".count)), \($0)"
        }
    }

    /// How long the certificate in use is valid; nil without one.
    var certificate: ServerFacts.Expiry? {
        server.identity.flatMap { settings.expiry(of: $0, listener) }
    }
}

extension ListenerSettings {
    /// While all certificates of a chain are valid; nil if none says so.
    func expiry(
        of identity: TLSIdentity, _ listener: RouteTable.Listener
    ) -> ServerFacts.Expiry? {
        let validities = identity.validities
        guard let tls, let first = validities.min(by: { $0.upperBound < $1.upperBound }),
            let last = validities.map(\.lowerBound).max()
        else { return nil }
        return ServerFacts.Expiry(
            "The certificate of server.\(listener.rawValue), \(tls.certificate),",
            validFrom: NumericDate(last), at: NumericDate(first.upperBound),
            lifetime: .seconds(first.count))
    }
}

extension ListenerSettings {
    /// Reads the TLS files; nil without TLS.
    func identity(
        in world: World, of listener: RouteTable.Listener
    ) throws(Diagnosis) -> TLSIdentity? {
        try tls.map { files throws(Diagnosis) in try TLSIdentity(files, in: world, of: listener) }
    }

    /// Fails if the TLS files cannot be used, or the address needs some.
    ///
    /// - Returns: what is wrong with them, although the listener would open; nil if nothing is.
    func check(
        in world: World, of listener: RouteTable.Listener
    ) async throws(Diagnosis) -> String? {
        let identity = try identity(in: world, of: listener)
        let isLocal: Bool?
        do throws(ServerError) {
            isLocal = try address.isLocal()
            if let identity { try await HTTPServer.check(identity) }
        } catch {
            throw Diagnosis(error, of: listener)
        }
        if let isLocal { try checkProtection(isLocal: isLocal, of: listener) }
        return identity.flatMap { expiry(of: $0, listener)?.fault(at: world.clocks.now()) }
    }

    /// Fails if a server could not listen at the address once the servers with this vault have ended.
    ///
    /// - Parameter own: where these listen now; nil if that is not known.
    /// - Returns: why the listener may not open; nil if nothing is against it.
    func use(
        in world: World, of listener: RouteTable.Listener, besides own: [String]?
    ) throws(Diagnosis) -> String? {
        let place = "server.\(listener.rawValue)"
        if world.words.isService, case .unix(_, _?) = address {
            throw Diagnosis(
                .configuration,
                "\(place).group: the unit siwa-server cannot give its socket to another group",
                hints: ["leave it out, and add the application's user to the group siwa"],
                exitCode: .settings)
        }
        do throws(ServerError) {
            try ListeningSocket.check(address, folder: folder(in: world))
            return nil
        } catch {
            let isOwn: Bool?
            switch error {
            case .inUse(_, let port):
                isOwn = own.map {
                    $0.contains { !$0.hasPrefix("unix:") && $0.hasSuffix(":\(port)") }
                }
            case .socketInUse(let path): isOwn = own.map { $0.contains("unix:\(path)") }
            default: throw Diagnosis(error, of: listener)
            }
            if isOwn == true { return nil }
            if world.words.isService, address.isHeldByThisUser {
                return """
                    siwa-server runs at \(place), and has not written its heartbeat into this vault: GET \
                    /readyz says why
                    """
            }
            guard isOwn == nil else { throw Diagnosis(error, of: listener) }
            return "\(place).listen: \(error)"
        }
    }

    /// What the service manager, or this program, does with the folder of its socket at a start.
    /// They make no folder within it.
    private func folder(in world: World) -> SocketFolder {
        guard case .unix(let path, _) = address else { return .kept }
        let managed = (world.variables("RUNTIME_DIRECTORY") ?? "").split(separator: ":")
        if managed.contains(where: { path.isEntry(of: $0) }) { return .madeAnew }
        return standardFolder == nil ? .kept : .madeIfMissing
    }
}

extension String {
    /// Whether it is the path of something directly in a folder.
    fileprivate func isEntry(of folder: Substring) -> Bool {
        hasPrefix(folder + "/") && !dropFirst(folder.count + 1).contains("/" as Character)
    }
}

extension TLSIdentity {
    /// From when until when each certificate of the chain is valid, in seconds.
    fileprivate var validities: [Range<Int>] {
        Certificate.chain(pemRepresentation: Array(certificate.utf8)).compactMap(\.validity)
    }

    fileprivate init(
        _ files: ListenerSettings.TLSFiles, in world: World, of listener: RouteTable.Listener
    ) throws(Diagnosis) {
        let place = "server.\(listener.rawValue).tls"
        func read(_ path: String) throws(Diagnosis) -> String {
            do {
                let contents = try world.files.read(path).contents
                return String(decoding: contents.revealed(), as: UTF8.self)
            } catch {
                throw Diagnosis(
                    .configuration, "\(place): a file cannot be read: \(error)",
                    hints: error.advice(or: "fix \(place) in the configuration"),
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
        let restart =
            "if it is siwa-server itself: systemctl restart siwa-server; if it is siwa-server.socket, which "
            + "this configuration does not use: systemctl disable --now siwa-server.socket"
        let hint =
            switch error {
            case .address: "such as 127.0.0.1:8765"
            case .inUse: "stop the process that listens there, or set another port; \(restart)"
            case .refused: "set an address of this machine and a port of 1024 or higher"
            case .socketInUse:
                "stop it, or set another path; if it is siwa-server itself: systemctl restart siwa-server"
            case .socket: "set a path in a folder that this user can write to"
            case .group(_, let name, _):
                "set a group that this user is in, or add the user to it: usermod -aG \(name) USER, "
                    + "then start the server again; with the unit siwa-server, leave 'group' out, and add "
                    + "the application's user to the group siwa"
            case .notInherited(let name):
                """
                start the .socket unit that has FileDescriptorName=\(name) first, such as \
                'systemctl restart siwa-server.socket', then this server
                """
            case .notStarted: "look at the log of the system: memory or descriptors are used up"
            case .identity:
                "check that tls.certificate and tls.key are PEM files of the same key pair"
            }
        let member = error == .identity ? "tls" : "listen"
        self.init(
            .configuration, "\(place).\(member): \(error)", hints: [hint], exitCode: .settings)
    }
}
