internal import Glibc

/// A Unix socket at a path, for its owner and one group.
struct UnixSocket {
    let path: String
    let group: String?

    /// Creates the file and listens. A socket file on which no process listens is replaced.
    ///
    /// Owner and permissions are set before it listens: until then the system refuses connections.
    func listening() throws(ServerError) -> ListeningSocket {
        let groupID = try group.map { name throws(ServerError) in try Self.identifier(name, path) }
        let made = try Self.made(path)
        if bind(made.number) != 0 {
            guard errno == EADDRINUSE else { throw failure() }
            try removeStale()
            guard bind(made.number) == 0 else { throw failure() }
        }
        let opened = ListeningSocket(adopting: made, file: SocketFile(path))
        if let groupID, chown(path, uid_t.max, groupID) != 0 { throw failure() }
        guard chmod(path, 0o660) == 0,
            listen(opened.descriptor, ListeningSocket.backlog) == 0
        else { throw failure() }
        opened.limitBuffers()
        return opened
    }

    /// Removes a socket file on which no process listens.
    private func removeStale() throws(ServerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure() }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw .socket(path: path, reason: "a file with this path exists already")
        }
        let probe = try Self.made(path)
        let answers = withAddress { connect(probe.number, $0, $1) } == 0
        // A full backlog also means that a process listens.
        guard !answers, errno == ECONNREFUSED else { throw .socketInUse(path: path) }
        guard unlink(path) == 0 else { throw failure() }
    }

    private static func made(_ path: String) throws(ServerError) -> Descriptor {
        guard (1..<108).contains(path.utf8.count) else {
            throw .socket(path: path, reason: "the path of a socket must have 1 to 107 bytes")
        }
        let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else {
            throw .socket(path: path, reason: String(cString: strerror(errno)))
        }
        return Descriptor(adopting: descriptor)
    }

    private func bind(_ descriptor: CInt) -> CInt {
        withAddress { Glibc.bind(descriptor, $0, $1) }
    }

    private func withAddress(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private func failure() -> ServerError {
        .socket(path: path, reason: String(cString: strerror(errno)))
    }

    private static func identifier(
        _ name: String, _ path: String
    ) throws(ServerError) -> gid_t {
        if let number = gid_t(name) { return number }
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else {
            throw .socket(path: path, reason: "the group '\(name)' does not exist")
        }
        return entry.gr_gid
    }
}
