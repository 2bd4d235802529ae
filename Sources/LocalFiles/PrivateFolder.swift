internal import Glibc

/// Makes a folder, and its missing parents, for their owner alone.
///
/// - Throws: ``FileError`` if that is impossible, or if the path exists and is not a folder of this
///   user's (or root's), or is one that others can write to: they could put their files into it.
package func makePrivateFolder(_ path: String) throws(FileError) {
    try makeFolders(path)
    var status = stat()
    _ = try system("use", path) { stat(path, &status) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw FileError("use", path, code: ENOTDIR) }
    // Who else can write to its parents is not checked: that is a matter of the machine.
    guard !FileStatus(status).isWritableByOthers else {
        throw FileError("use", path, reason: "it belongs to others, or they can write to it")
    }
}

private func makeFolders(_ path: String) throws(FileError) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
        throw FileError("create", path)
    }
    try makeFolders(String(path[..<slash]))
    // Another process may have been faster.
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileError("create", path) }
}
