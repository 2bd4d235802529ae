internal import Glibc
internal import SIWACMicroHTTPD

/// A copy of a socket address of the system.
struct SocketAddress {
    private var storage = sockaddr_storage()

    /// The local address of a socket.
    init(socket: CInt) {
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutableBytes(of: &storage) { bytes in
            guard let address = bytes.baseAddress else { return }
            getsockname(socket, address.assumingMemoryBound(to: sockaddr.self), &size)
        }
    }

    /// Copies the address at a pointer.
    init(_ address: UnsafePointer<sockaddr>) {
        let size =
            switch CInt(address.pointee.sa_family) {
            case AF_INET: MemoryLayout<sockaddr_in>.size
            case AF_INET6: MemoryLayout<sockaddr_in6>.size
            default: MemoryLayout<sa_family_t>.size
            }
        withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.copyMemory(from: UnsafeRawBufferPointer(start: address, count: size))
        }
    }

    private var family: CInt { CInt(storage.ss_family) }

    var isUnix: Bool { family == AF_UNIX }

    /// Whether only processes on this machine can connect to it.
    var isLocal: Bool {
        switch family {
        case AF_UNIX: true
        case AF_INET: text?.hasPrefix("127.") ?? false
        default: text == "::1"
        }
    }

    /// The port; 0 for a Unix socket.
    var port: UInt16 {
        guard family != AF_UNIX else { return 0 }
        // Both families keep the port in the same place, in network order.
        return withUnsafeBytes(of: storage) {
            UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self))
        }
    }

    /// `127.0.0.1:8765`, `[::1]:8765` or `unix:PATH`.
    var description: String {
        guard let text else { return "unix:" + path }
        return text.utf8.contains(UInt8(ascii: ":")) ? "[\(text)]:\(port)" : "\(text):\(port)"
    }

    /// The path of a Unix socket.
    private var path: String {
        withUnsafeBytes(of: storage) { bytes in
            String(decoding: bytes.dropFirst(2).prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// The IP address; nil for a Unix socket. An IPv4 address that reached an IPv6 socket is
    /// written as IPv4.
    var text: String? {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let isKnown = withUnsafeBytes(of: storage) { bytes -> Bool in
            switch family {
            case AF_INET:
                inet_ntop(AF_INET, bytes.baseAddress.map { $0 + 4 }, &buffer, 46) != nil
            case AF_INET6:
                inet_ntop(AF_INET6, bytes.baseAddress.map { $0 + 8 }, &buffer, 46) != nil
            default: false
            }
        }
        guard isKnown else { return nil }
        let text = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        return text.hasPrefix("::ffff:") ? String(text.dropFirst(7)) : text
    }
}
