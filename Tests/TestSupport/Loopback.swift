import Glibc

/// A stream socket on 127.0.0.1, at a port the system chooses.
///
/// - Parameter isShared: whether other sockets with `SO_REUSEPORT` can have the same port.
func bindToLoopback(isShared: Bool = false) throws -> (Descriptor, port: UInt16) {
    let socket = try streamSocket()
    var option = CInt(isShared ? 1 : 0)
    _ = try checked("setsockopt") {
        setsockopt(
            socket.number, SOL_SOCKET, SO_REUSEPORT, &option,
            socklen_t(MemoryLayout<CInt>.size))
    }
    try withAddress(port: 0) { address, length in
        _ = try checked("bind") { bind(socket.number, address, length) }
    }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutablePointer(to: &address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
            _ = try checked("getsockname") { getsockname(socket.number, generic, &length) }
        }
    }
    return (socket, UInt16(bigEndian: address.sin_port))
}

/// A socket that accepts connections on 127.0.0.1.
func listenOnLoopback() throws -> (Descriptor, port: UInt16) {
    let (socket, port) = try bindToLoopback()
    _ = try checked("listen") { listen(socket.number, 1024) }
    return (socket, port)
}

/// A connection to a port of 127.0.0.1.
func connectToLoopback(port: UInt16) throws -> Descriptor {
    let socket = try streamSocket()
    try withAddress(port: port) { address, length in
        _ = try checked("connect") { connect(socket.number, address, length) }
    }
    return socket
}

/// A connection that is begun and not waited for.
func beginConnecting(port: UInt16) throws -> Descriptor {
    let socket = try streamSocket()
    _ = fcntl(socket.number, F_SETFL, O_NONBLOCK)
    try withAddress(port: port) { address, length in
        let code = connect(socket.number, address, length)
        guard code == 0 || errno == EINPROGRESS else { throw SystemFailure("connect") }
    }
    return socket
}

private func streamSocket() throws -> Descriptor {
    let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    return Descriptor(owning: try checked("socket") { socket(AF_INET, type, 0) })
}

private func withAddress(
    port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    try withUnsafePointer(to: &address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

/// Calls `body` with the address of a Unix socket.
func withUnixAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    try withUnsafePointer(to: &address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            try body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}

/// A connection to a Unix socket.
func connectToSocket(_ path: String) throws -> Descriptor {
    let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = Descriptor(owning: try checked("socket") { socket(AF_UNIX, type, 0) })
    try withUnixAddress(path) { address, length in
        _ = try checked("connect") { connect(descriptor.number, address, length) }
    }
    return descriptor
}
