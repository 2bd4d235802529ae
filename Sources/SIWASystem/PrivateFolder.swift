internal import Glibc

/// Creates a folder and its missing parents, accessible by their owner only.
///
/// - Throws: ``FileError`` if that fails, or if the path is not a folder, belongs to a user other
///   than this one or root, or is writable by others, who could put files into it.
package func makePrivateFolder(_ path: String) throws(FileError) {
    try makeFolders(path)
    var status = stat()
    _ = try system("use", path) { stat(path, &status) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw FileError("use", path, code: ENOTDIR) }
    // The permissions of its parents are not checked.
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
