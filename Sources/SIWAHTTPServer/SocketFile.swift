internal import Glibc

/// The file of a Unix socket that this process made.
struct SocketFile {
    private let path: String
    private let identity: Identity?

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

    /// Notes the file that is at `path` now.
    init(_ path: String) {
        self.path = path
        identity = Identity(path)
    }

    /// Removes it, unless another process has replaced it.
    func remove() {
        guard let identity, Identity(path) == identity else { return }
        unlink(path)
    }
}
