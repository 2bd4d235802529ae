internal import Glibc
internal import SIWACProcess

/// Reserves space for a result on the disk of an open file, so that a full disk is noticed before
/// there is a result. The file's size does not change. A pipe, a device, and a file system that
/// cannot reserve space are left alone.
///
/// - Throws: ``FileError`` if the disk is full, a quota is used up, or the process may not write a
///   file of that size.
package func reserveSpace(
    _ size: Int, on descriptor: CInt, named name: String
) throws(FileError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    let flags = fcntl(descriptor, F_GETFL)
    let isAppending = flags != -1 && flags & O_APPEND != 0
    let start = isAppending ? status.st_size : lseek(descriptor, 0, SEEK_CUR)
    guard start >= 0 else { return }
    // The kernel ignores this limit for space beyond the end of a file.
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0,
        UInt(start + size) > limit.rlim_cur
    {
        throw FileError("write", name, code: EFBIG)
    }
    do throws(FileError) {
        _ = try system("write", name) { siwa_reserve_space(descriptor, start, size) }
    } catch {
        guard [ENOSPC, EDQUOT, EFBIG, EIO].contains(error.code) else { return }
        throw error
    }
}
