internal import Glibc

/// The owner and the permissions of a file.
package struct FileStatus: Sendable {
    /// The permission bits, such as 0o600.
    package let permissions: UInt32
    /// Whether it is a regular file: the permissions of pipes and devices are not meaningful.
    package let isRegular: Bool
    /// Whether it belongs to a user other than root and the user of this process.
    package let isForeign: Bool
    /// Whether this process is in the file's group.
    package let isInGroup: Bool

    package init(
        permissions: UInt32, isRegular: Bool = true, isForeign: Bool = false,
        isInGroup: Bool = false
    ) {
        (self.permissions, self.isRegular) = (permissions, isRegular)
        (self.isForeign, self.isInGroup) = (isForeign, isInGroup)
    }

    init(_ status: stat) {
        self.init(
            permissions: status.st_mode & 0o7777, isRegular: status.st_mode & S_IFMT == S_IFREG,
            isForeign: status.st_uid != geteuid() && status.st_uid != 0,
            isInGroup: isGroupOfProcess(status.st_gid))
    }

    /// Whether users other than this one and root can have written it.
    package var isWritableByOthers: Bool { isForeign || permissions & 0o022 != 0 }

    /// Whether others may read it: everyone, or a group that this process is not in. A mounted
    /// secret is given to a group, so that the program can read it without owning it.
    package var isReadableByOthers: Bool {
        isRegular && (permissions & 0o004 != 0 || permissions & 0o040 != 0 && !isInGroup)
    }
}

/// Examines a file without opening it; nil if that is impossible.
package func fileStatus(_ path: String) -> FileStatus? {
    var status = stat()
    return stat(path, &status) == 0 ? FileStatus(status) : nil
}

/// Whether two paths denote the same folder, however they are written.
package func isSameFolder(_ left: String, _ right: String) -> Bool {
    var (first, second) = (stat(), stat())
    guard stat(left, &first) == 0, stat(right, &second) == 0 else { return false }
    return first.st_mode & S_IFMT == S_IFDIR && first.st_dev == second.st_dev
        && first.st_ino == second.st_ino
}

/// The identity of a file, which another file in its place does not have; nil if there is none.
package func fileIdentity(_ path: String) -> FileIdentity? {
    var status = stat()
    return stat(path, &status) == 0 ? FileIdentity(status) : nil
}

/// See ``fileIdentity(_:)``.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    init(_ status: stat) { (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino)) }
}

private func isGroupOfProcess(_ group: gid_t) -> Bool {
    if getegid() == group { return true }
    var groups = [gid_t](repeating: 0, count: Int(max(getgroups(0, nil), 0)))
    let count = getgroups(CInt(groups.count), &groups)
    return count > 0 && groups.prefix(Int(count)).contains(group)
}
