internal import Glibc

/// A socket that listens, closed when its owner lets go of it.
///
/// libmicrohttpd could open one itself, but could not say why it failed.
struct ListeningSocket: ~Copyable {
    let descriptor: CInt

    private init(adopting descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Listens on an address; port 0 is any free one.
    static func open(_ address: String, port: UInt16) throws(ServerError) -> ListeningSocket {
        guard let found = resolve(address, port) else { throw .address(address) }
        defer { freeaddrinfo(found) }
        let type = found.pointee.ai_socktype | CInt(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let opened = ListeningSocket(adopting: socket(found.pointee.ai_family, type, 0))
        var yes: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        // Connections of an emulator that just ended may linger on the port.
        setsockopt(opened.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
        // Accepted connections inherit it. Unset, the system keeps megabytes for a client that does
        // not read.
        var buffer = CInt(256 * 1024)
        setsockopt(opened.descriptor, SOL_SOCKET, SO_SNDBUF, &buffer, size)
        guard bind(opened.descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0,
            listen(opened.descriptor, 1024) == 0
        else {
            throw errno == EADDRINUSE
                ? .inUse(address: address, port: port)
                : .refused(address: address, port: port, reason: String(cString: strerror(errno)))
        }
        return opened
    }

    /// Transfers ownership of the descriptor to the caller.
    consuming func release() -> CInt {
        let descriptor = self.descriptor
        discard self
        return descriptor
    }

    /// The port it got, when it asked for any.
    var port: UInt16 {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            let raw = UnsafeMutableRawPointer(pointer)
            getsockname(descriptor, raw.assumingMemoryBound(to: sockaddr.self), &size)
            // Both families keep the port in the same place, in network order.
            return UInt16(bigEndian: raw.load(fromByteOffset: 2, as: UInt16.self))
        }
    }

    /// Takes addresses only: a name could mean somewhere else tomorrow.
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
