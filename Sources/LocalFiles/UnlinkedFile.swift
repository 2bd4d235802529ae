internal import Glibc

/// Makes an empty temporary file without a name: it disappears however the process ends.
///
/// - Parameter folder: where the file is made, such as `/tmp`.
/// - Returns: its descriptor, which the caller closes.
/// - Throws: ``FileError``.
func makeUnlinkedFile(in folder: String) throws(FileError) -> CInt {
    var template = Array((folder + "/siwa.XXXXXX").utf8CString)
    let descriptor = try system("create", folder) { mkstemp(&template) }
    unlink(template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
}
