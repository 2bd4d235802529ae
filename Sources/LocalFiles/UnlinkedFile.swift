internal import Glibc

/// A temporary file without a name for appending, which disappears with the process.
final class UnlinkedFile {
    private let descriptor: CInt
    private let folder: String
    /// The number of bytes that were appended.
    private(set) var size = 0

    /// Creates an empty file in a folder, such as `/tmp`.
    init(in folder: String) throws(FileError) {
        self.folder = folder
        descriptor = try makeUnlinkedFile(in: folder)
    }

    deinit { close(descriptor) }

    func append(_ bytes: [UInt8]) throws(FileError) {
        var place = 0
        while place < bytes.count {
            place += try system("write", folder) {
                bytes[place...].withUnsafeBytes {
                    pwrite(descriptor, $0.baseAddress, $0.count, off_t(size + place))
                }
            }
        }
        size += bytes.count
    }

    /// Reads up to `count` bytes, at least one.
    func read(upTo count: Int, at start: Int) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try system("read", folder) {
            bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, off_t(start))
            }
        }
        guard got > 0 else { throw damaged }
        bytes.removeLast(count - got)
        return bytes
    }

    /// Reads `count` bytes.
    func read(_ count: Int, at start: Int) throws(FileError) -> [UInt8] {
        var bytes = try read(upTo: count, at: start)
        while bytes.count < count {
            bytes += try read(upTo: count - bytes.count, at: start + bytes.count)
        }
        return bytes
    }

    /// The error for contents that differ from what was written.
    var damaged: FileError { .damagedTemporaryFile(in: folder) }
}

extension FileError {
    /// The error if the contents of a temporary file in `folder` differ from what was written.
    static func damagedTemporaryFile(in folder: String) -> Self {
        Self("read", folder, reason: "a temporary file was damaged")
    }
}

/// Creates an empty temporary file without a name.
///
/// - Parameter folder: the folder of the file, such as `/tmp`.
/// - Returns: its descriptor, which the caller closes.
/// - Throws: ``FileError``.
func makeUnlinkedFile(in folder: String) throws(FileError) -> CInt {
    var template = Array((folder + "/siwa.XXXXXX").utf8CString)
    let descriptor = try system("create", folder) { mkstemp(&template) }
    unlink(template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
}
