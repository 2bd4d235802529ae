internal import Glibc

/// The file of a Unix socket that this process made.
struct SocketFile {
    private let path: String
    private let identity: Identity?
    private var access: Access?

    /// The file behind a path, which another process may replace.
    private struct Identity: Equatable {
        let device: dev_t
        let number: ino_t

        init?(_ path: String) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    /// Who may connect: the permissions of the file and of its folder.
    private struct Access {
        private var modes: [mode_t] = []
        private var owners: [[UInt32]] = []

        init?(_ path: String) {
            for path in [path, path.parentFolder] {
                var status = stat()
                guard lstat(path, &status) == 0 else { return nil }
                modes.append(status.st_mode & 0o077)
                owners.append([status.st_uid, status.st_gid])
            }
        }

        /// Whether nobody has lost what he may do.
        func isKept(in later: Access) -> Bool {
            owners == later.owners && zip(modes, later.modes).allSatisfy { $0 & ~$1 == 0 }
        }
    }

    /// Notes the file that is at `path` now.
    init(_ path: String) {
        self.path = path
        identity = Identity(path)
    }

    /// Whether clients find it at its path: nobody has removed or replaced it.
    var isInPlace: Bool { identity != nil && Identity(path) == identity }

    /// Notes who may connect.
    mutating func noteAccess() { access = Access(path) }

    /// Whether those who could connect can still do so.
    var isOpenAsBefore: Bool {
        guard let access, let now = Access(path) else { return true }
        return access.isKept(in: now)
    }

    /// Removes it, unless another process has replaced it.
    func remove() {
        guard isInPlace else { return }
        unlink(path)
    }
}
