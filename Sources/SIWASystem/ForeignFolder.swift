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

/// What to do about what belongs to another user.
///
/// - Parameter own: what else can be used.
package func remedyForOwner(of what: String, or own: String) -> String {
    """
    run the command as the owner of \(what): 'siwa-admin' is siwa as the service, on its files; \
    or use \(own)
    """
}
