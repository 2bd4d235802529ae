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
            place += try temporaryFile("write", in: folder) {
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
        let got = try temporaryFile("read", in: folder) {
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
        Self("read a temporary file in", folder, reason: "it was damaged")
    }
}

/// Calls a system function about a temporary file in a folder, as ``system(_:_:_:)`` does.
func temporaryFile<Value: FixedWidthInteger & SignedInteger>(
    _ operation: String, in folder: String, _ call: () -> Value
) throws(FileError) -> Value {
    do throws(FileError) {
        return try system(operation, folder, call)
    } catch {
        // Not the file of a result, which would be lost.
        throw FileError(
            "\(operation) a temporary file in", folder, reason: error.reason, code: error.code,
            remedy: error.remedy
                ?? "name a folder in TMPDIR that has room and that this user may write")
    }
}

/// Creates an empty temporary file without a name.
///
/// - Parameter folder: the folder of the file, such as `/tmp`.
/// - Returns: its descriptor, which the caller closes.
/// - Throws: ``FileError``.
func makeUnlinkedFile(in folder: String) throws(FileError) -> CInt {
    var template = Array((folder + "/siwa.XXXXXX").utf8CString)
    let descriptor = try temporaryFile("create", in: folder) { mkstemp(&template) }
    unlink(template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
}
