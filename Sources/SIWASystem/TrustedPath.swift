internal import Glibc

/// Whether nobody but root and this process's user can replace or change what is at a path.
package struct TrustedPath: Sendable {
    private let path: String
    private let isStrict: Bool

    /// - Parameters:
    ///   - path: an absolute path.
    ///   - isStrict: whether what belongs to another user is a fault, too.
    package init(_ path: String, isStrict: Bool) { (self.path, self.isStrict) = (path, isStrict) }

    /// Why a program cannot or must not be run, as the end of a sentence that begins with its path;
    /// nil if it can.
    package var programFault: String? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return Self.missing }
        if isLink(status), isForeign(status) { return "is a link of another user" }
        guard stat(path, &status) == 0 else { return "is a link to nothing" }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: return "is a folder"
        default: return "is not a regular file"
        }
        if let fault = fault(status) ?? folderFault { return fault }
        return access(path, X_OK) == 0 ? nil : "is not executable"
    }

    /// Why a socket cannot or must not be used; nil if it can, also if it is missing: its service may
    /// not run yet.
    package var socketFault: String? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        if isLink(status), isForeign(status) { return "is a link of another user" }
        guard stat(path, &status) == 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return "is not a socket" }
        // Whoever may write a socket may use it, which is what its group is for. An emptyDir of
        // Kubernetes can be written by all: a false socket learns nothing secret, and its signatures
        // do not verify.
        guard isStrict else { return nil }
        return isForeign(status) ? "belongs to another user" : folderFault
    }

    /// Why a configuration must not name a program; nil if it may.
    package var fileFault: String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return fault(status)
    }

    private static let missing = "does not exist"

    /// The first folder above the path, and above what it links to, that others could change.
    private var folderFault: String? {
        var paths = [path]
        if let resolved = realpath(path, nil) {
            paths.append(String(cString: resolved))
            free(resolved)
        }
        for path in paths {
            var folder = path
            while let slash = folder.lastIndex(of: "/"), folder != "/" {
                folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
                var status = stat()
                guard stat(folder, &status) == 0 else { continue }
                // In a folder such as /tmp, others cannot rename what is not theirs.
                if status.st_mode & S_ISVTX == 0, let fault = fault(status) {
                    return "is in the folder \(folder), which \(fault)"
                }
            }
        }
        return nil
    }

    private func fault(_ status: stat) -> String? {
        if status.st_mode & 0o022 != 0 { return "can be written by others" }
        return isStrict && isForeign(status) ? "belongs to another user" : nil
    }

    private func isLink(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFLNK }

    private func isForeign(_ status: stat) -> Bool {
        status.st_uid != geteuid() && status.st_uid != 0
    }
}
