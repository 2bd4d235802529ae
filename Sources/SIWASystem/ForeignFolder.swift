internal import Glibc

/// Refuses to let root create a file in a folder of another user, such as that of a service: the
/// user could not open what belongs to root.
///
/// An existing file is no concern of this rule, nor is a folder such as `/tmp`, in which every user
/// has files of their own.
package func requireOwnFolder(
    _ operation: String, _ path: String
) throws(FileError) {
    guard geteuid() == 0 else { return }
    let folder = folderPrefix(of: path)
    var (file, owner) = (stat(), stat())
    guard lstat(path, &file) != 0, stat(folder.isEmpty ? "." : folder, &owner) == 0,
        owner.st_uid != 0, owner.st_mode & S_ISVTX == 0
    else { return }
    throw FileError(
        operation, path,
        reason: "its folder belongs to another user (uid \(owner.st_uid)), who could not open a "
            + "file of root", code: EPERM,
        remedy: remedyForOwner(of: "the folder", or: "a folder of your own"))
}

/// What to do about a file in this user's folder that this user must not open, as after a command of
/// root on the files of a service, or about this user's own folder; nil for other errors.
package func ownershipRemedy(_ code: CInt, _ path: String) -> String? {
    guard code == EACCES, geteuid() != 0 else { return nil }
    let folder = folderPrefix(of: path)
    var (file, owner) = (stat(), stat())
    guard stat(folder.isEmpty ? "." : folder, &owner) == 0 else { return nil }
    guard owner.st_uid == geteuid() else {
        return isHome(owner) ? remedy("the folder", of: owner, folder) : nil
    }
    if owner.st_mode & 0o700 != 0o700 {
        return "the mode of the folder keeps its owner out: chmod 700 \(folder)"
    }
    guard lstat(path, &file) == 0, file.st_mode & S_IFMT == S_IFREG else { return nil }
    if file.st_uid != geteuid() { return remedy("the file", of: file, path) }
    return file.st_mode & 0o600 == 0o600
        ? nil : "the mode of the file keeps its owner out: chmod 600 \(path)"
}

private func isHome(_ folder: stat) -> Bool {
    var home = stat()
    guard let user = getpwuid(geteuid()), let path = user.pointee.pw_dir, stat(path, &home) == 0
    else { return false }
    return home.st_ino == folder.st_ino && home.st_dev == folder.st_dev
}

private func remedy(_ what: String, of status: stat, _ path: String) -> String {
    let user = getpwuid(geteuid()).flatMap { $0.pointee.pw_name.map { String(cString: $0) } }
    let group = getgrgid(getegid()).flatMap { $0.pointee.gr_name.map { String(cString: $0) } }
    return """
        \(what) belongs to another user (uid \(status.st_uid)); as root, give it to this one: \
        chown \(user ?? "\(geteuid())"):\(group ?? "\(getegid())") \(path)
        """
}

/// What to do about what belongs to another user.
///
/// - Parameter own: what else can be used.
package func remedyForOwner(of what: String, or own: String) -> String {
    """
    run the command as the owner of \(what): 'siwa-admin' is siwa as the service, on its files; \
    or use \(own)
    """
}
