internal import Glibc

/// What to do about a limit of the process or the system that an error number names; nil for other
/// errors.
package func systemLimitRemedy(_ code: CInt) -> String? {
    switch code {
    case EMFILE:
        "raise the limit of open files: ulimit -n, LimitNOFILE= of the unit"
    case ENFILE: "raise the system's limit of open files: sysctl fs.file-max"
    case EFBIG: "raise the limit of file sizes: ulimit -f, LimitFSIZE= of the unit"
    case ENOMEM: "raise the limit of memory (ulimit -v, MemoryMax= of its unit), or free memory"
    case EDQUOT: "free space in this user's disk quota, then run it again"
    default: nil
    }
}

/// Whether a file has reached the size that the process may write. The next page of a database, of
/// at most 64 KiB, does not fit then.
package func isAtFileSizeLimit(_ path: String) -> Bool {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return false }
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return UInt(status.st_size) + 65_536 > limit.rlim_cur
}
