import Glibc

/// A file descriptor, closed when its last owner is released.
final class Descriptor: Sendable {
    let number: CInt

    /// Takes `number` over.
    init(owning number: CInt) { self.number = number }

    /// Opens a file; no child inherits the descriptor.
    convenience init(path: String, _ flags: CInt) throws {
        self.init(owning: try checked("open \(path)") { open(path, flags | O_CLOEXEC, 0o600) })
    }

    /// An empty file without a name, which is removed with its last descriptor.
    ///
    /// Children write their output into one, and read their input from one: unlike a pipe
    /// it is never full, so it need not be read while they run.
    static func anonymousFile() throws -> Descriptor {
        let path = "/tmp/siwa-test-\(getpid())-\(UInt64.random(in: .min ... .max))"
        let file = try Descriptor(path: path, O_RDWR | O_CREAT | O_EXCL)
        unlink(path)
        return file
    }

    /// The two ends of a pipe.
    static func pipe() throws -> (read: Descriptor, write: Descriptor) {
        var ends: [CInt] = [-1, -1]
        _ = try checked("pipe") { Glibc.pipe(&ends) }
        let low = ends.map(Descriptor.init(owning:))
        // Away from the numbers that a child gets, where one end could overwrite another.
        let high = try low.map { end in
            Descriptor(owning: try checked("fcntl") { fcntl(end.number, F_DUPFD_CLOEXEC, 16) })
        }
        return (high[0], high[1])
    }

    /// A stream socket whose other end is closed.
    static func desertedSocket() throws -> Descriptor {
        var ends: [CInt] = [-1, -1]
        _ = try checked("socketpair") {
            socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends)
        }
        close(ends[1])
        let low = Descriptor(owning: ends[0])
        return Descriptor(owning: try checked("fcntl") { fcntl(low.number, F_DUPFD_CLOEXEC, 16) })
    }

    /// The two ends of a full pipe.
    static func fullPipe() throws -> (read: Descriptor, write: Descriptor) {
        let ends = try pipe()
        let flags = try checked("fcntl") { fcntl(ends.write.number, F_GETFL) }
        _ = try checked("fcntl") { fcntl(ends.write.number, F_SETFL, flags | O_NONBLOCK) }
        var byte: UInt8 = 0x2E
        while Glibc.write(ends.write.number, &byte, 1) == 1 {}
        _ = try checked("fcntl") { fcntl(ends.write.number, F_SETFL, flags) }
        return ends
    }

    deinit { close(number) }

    /// Writes `bytes`.
    func write(_ bytes: [UInt8]) throws {
        var done = 0
        while done < bytes.count {
            done += try checked("write") {
                bytes.withUnsafeBytes {
                    Glibc.write(number, $0.baseAddress.map { $0 + done }, $0.count - done)
                }
            }
        }
    }

    /// Goes back to the beginning of the file.
    func rewind() throws { _ = try checked("lseek") { lseek(number, 0, SEEK_SET) } }

    /// Everything the file holds, independent of its offset.
    func contents() throws -> [UInt8] {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let got = try checked("pread") { pread(number, &chunk, chunk.count, off_t(all.count)) }
            if got == 0 { return all }
            all += chunk[..<got]
        }
    }
}
