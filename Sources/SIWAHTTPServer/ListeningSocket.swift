internal import Glibc

/// A listening socket, closed when its owner is released.
///
/// libmicrohttpd could open the socket itself, but would not report why it failed.
package struct ListeningSocket: ~Copyable {
    private let owned: Descriptor
    /// The file of a Unix socket that this process made.
    private var file: SocketFile?
    /// Whether the service manager has it, too.
    private let isInherited: Bool

    init(
        adopting descriptor: consuming Descriptor, file: SocketFile? = nil,
        isInherited: Bool = false
    ) {
        owned = descriptor
        (self.file, self.isInherited) = (file, isInherited)
    }

    deinit { file?.remove() }

    /// Notes who may connect to a Unix socket.
    mutating func noteAccess() { file?.noteAccess() }

    /// Lets the system refuse connections, unless they wait for the service manager to start this
    /// program again.
    mutating func refuseConnections() {
        guard !isInherited else { return }
        // Before others may listen there.
        file?.remove()
        file = nil
        // Also for the descriptors of the event loops, which therefore need not be closed while a
        // loop may be using one.
        shutdown(descriptor, CInt(SHUT_RDWR))
    }

    var descriptor: CInt { owned.number }

    /// Listens on an address.
    ///
    /// - Parameter inherited: what the service manager opened for this process.
    package static func open(
        _ address: ListenAddress, inherited: InheritedSockets? = nil
    ) throws(ServerError) -> ListeningSocket {
        switch address {
        case .tcp(let host, let port): try tcp(host, port: port)
        case .unix(let path, let group): try UnixSocket(path: path, group: group).listening()
        case .inherited(let name): try Self.inherited(name, inherited)
        }
    }

    private static func tcp(
        _ address: String, port: UInt16
    ) throws(ServerError) -> ListeningSocket {
        let opened = try bound(address, port: port)
        guard listen(opened.descriptor, Self.backlog) == 0 else { throw refusal(address, port) }
        return opened
    }

    /// A socket with an address, which does not listen yet.
    private static func bound(
        _ address: String, port: UInt16
    ) throws(ServerError) -> ListeningSocket {
        guard let found = resolve(address, port) else { throw .address(address) }
        defer { freeaddrinfo(found) }
        let type = found.pointee.ai_socktype | CInt(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let opened = ListeningSocket(
            adopting: Descriptor(adopting: socket(found.pointee.ai_family, type, 0)))
        // Connections of a server that has just ended may still occupy the port.
        opened.set(SO_REUSEADDR, 1)
        opened.limitBuffers()
        guard bind(opened.descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0
        else { throw refusal(address, port) }
        return opened
    }

    /// The error of the last call.
    private static func refusal(_ address: String, _ port: UInt16) -> ServerError {
        errno == EADDRINUSE
            ? .inUse(address: address, port: port)
            : .refused(address: address, port: port, reason: String(cString: strerror(errno)))
    }

    /// Whether an IP address belongs to this machine alone.
    static func isLocal(_ address: String) throws(ServerError) -> Bool {
        guard let found = resolve(address, 0) else { throw .address(address) }
        defer { freeaddrinfo(found) }
        return found.pointee.ai_addr.map { SocketAddress($0).isLocal } ?? false
    }

    private static func inherited(
        _ name: String, _ sockets: InheritedSockets?
    ) throws(ServerError) -> ListeningSocket {
        guard let passed = sockets?.descriptors[name] else { throw .notInherited(name: name) }
        // A copy: the service manager's own stays open for the next start.
        guard let copy = Descriptor.copy(of: passed) else { throw .notInherited(name: name) }
        let opened = ListeningSocket(adopting: copy, isInherited: true)
        var listens: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(opened.descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0,
            listens == 1,
            fcntl(opened.descriptor, F_SETFL, fcntl(opened.descriptor, F_GETFL) | O_NONBLOCK) == 0
        else { throw .notInherited(name: name) }
        opened.limitBuffers()
        return opened
    }

    /// Another descriptor of the same socket, for one event loop.
    func duplicated() -> Descriptor? { Descriptor.copy(of: descriptor) }

    /// Accepted connections inherit this send buffer size. The system's default keeps megabytes for
    /// a client that does not read.
    func limitBuffers() { set(SO_SNDBUF, 256 * 1024) }

    private func set(_ option: CInt, _ value: CInt) {
        var value = value
        setsockopt(
            descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Why clients cannot connect, as the end of a sentence about the socket; nil if they can.
    var fault: String? {
        guard let file else { return nil }
        guard file.isInPlace else { return "was removed or replaced" }
        return file.isOpenAsBefore
            ? nil : "has other permissions, or its folder has, than the server gave it"
    }

    /// Fails if nobody could listen on an address, whoever listens there now.
    ///
    /// - Parameter folder: what happens to the folder of a Unix socket before.
    /// - Throws: ``ServerError``, of kind `inUse` if another process listens there.
    package static func check(
        _ address: ListenAddress, folder: SocketFolder
    ) throws(ServerError) {
        switch address {
        case .tcp(let host, let port): _ = try bound(host, port: port)
        case .unix(let path, let group):
            try UnixSocket(path: path, group: group).check(folder)
        case .inherited: break
        }
    }

    /// The port, chosen by the system if 0 was requested; 0 for a Unix socket.
    package var port: UInt16 {
        SocketAddress(socket: descriptor).port
    }

    /// Whether only processes on this machine can connect.
    package var isLocal: Bool {
        SocketAddress(socket: descriptor).isLocal
    }

    /// Where it listens: `127.0.0.1:8765`, `[::1]:8765` or `unix:PATH`.
    package var address: String { SocketAddress(socket: descriptor).description }

    /// Whether it is a Unix socket.
    package var isUnix: Bool { SocketAddress(socket: descriptor).isUnix }

    /// The number of connections that wait while the limit is reached.
    static let backlog: CInt = 4096

    /// Accepts IP addresses only: a host name could resolve to another address tomorrow.
    private static func resolve(
        _ address: String, _ port: UInt16
    ) -> UnsafeMutablePointer<addrinfo>? {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        return getaddrinfo(address, String(port), &hints, &found) == 0 ? found : nil
    }
}
