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
        var opened = ListeningSocket(adopting: made, file: SocketFile(path))
        if let groupID, let group, chown(path, uid_t.max, groupID) != 0 {
            throw .group(path: path, name: group, reason: String(cString: strerror(errno)))
        }
        guard chmod(path, 0o660) == 0,
            listen(opened.descriptor, ListeningSocket.backlog) == 0
        else { throw failure() }
        opened.noteAccess()
        opened.limitBuffers()
        return opened
    }

    /// Fails if ``listening()`` would, also for a process that listens there now.
    ///
    /// - Parameter kind: what happens to its folder before.
    func check(_ kind: SocketFolder) throws(ServerError) {
        _ = try Self.made(path)
        if let groupID = try group.map({ name throws(ServerError) in
            try Self.identifier(name, path)
        }), let group, !Self.mayGive(to: groupID) {
            throw .group(path: path, name: group, reason: "this user is not in it")
        }
        let folder = path.parentFolder
        switch kind {
        case .madeAnew: return
        case .madeIfMissing where access(folder, F_OK) != 0: return
        case .madeIfMissing, .kept: break
        }
        guard access(folder, W_OK | X_OK) == 0 else { throw failure() }
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .taken(path) }
        guard try isStale() else { throw .socketInUse(path: path) }
    }

    /// Whether this process can make a group the owner of its files.
    private static func mayGive(to group: gid_t) -> Bool {
        if geteuid() == 0 || getegid() == group { return true }
        var groups = [gid_t](repeating: 0, count: Int(max(getgroups(0, nil), 0)))
        let count = getgroups(CInt(groups.count), &groups)
        return groups.prefix(Int(max(count, 0))).contains(group)
    }

    /// Removes a socket file on which no process listens.
    private func removeStale() throws(ServerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure() }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .taken(path) }
        guard try isStale() else { throw .socketInUse(path: path) }
        guard unlink(path) == 0 else { throw failure() }
    }

    /// Whether no process listens on the socket file.
    private func isStale() throws(ServerError) -> Bool {
        let probe = try Self.made(path)
        // A full backlog also means that a process listens.
        return withAddress { connect(probe.number, $0, $1) } != 0 && errno == ECONNREFUSED
    }

    /// The user whose process listens on the socket file; nil if none does.
    var holder: uid_t? {
        guard let probe = try? Self.made(path),
            withAddress({ connect(probe.number, $0, $1) }) == 0
        else { return nil }
        // struct ucred: process, user, group.
        var peer: [UInt32] = [0, 0, 0]
        var size = socklen_t(MemoryLayout<UInt32>.size * peer.count)
        guard getsockopt(probe.number, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0
        else { return nil }
        return peer[1]
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
            throw .group(path: path, name: name, reason: "it does not exist")
        }
        return entry.gr_gid
    }
}

extension ServerError {
    fileprivate static func taken(_ path: String) -> Self {
        .socket(path: path, reason: "a file with this path exists already")
    }
}

/// What happens to the folder of a socket before a program listens there.
package enum SocketFolder: Sendable {
    /// Nothing.
    case kept
    /// It is made if it is missing.
    case madeIfMissing
    /// It is removed with all that is in it, and made again.
    case madeAnew
}

extension String {
    /// The folder of a path.
    var parentFolder: String {
        lastIndex(of: "/").map { $0 == startIndex ? "/" : String(self[..<$0]) } ?? "."
    }
}
