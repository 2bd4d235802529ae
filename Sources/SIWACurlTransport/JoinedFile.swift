internal import Glibc
internal import SIWACCurl
internal import SIWALifecycle

/// Several files joined in memory, with a path for libcurl, which accepts only one. It would also
/// accept bytes, but copy them for every request. A byte order mark at the beginning of a file is
/// dropped: OpenSSL would skip the certificate after it.
final class JoinedFile: Sendable {
    private let descriptor: CInt

    /// The path, valid in this process for the lifetime of this object.
    var path: String { "/proc/self/fd/\(descriptor)" }

    /// - Throws: ``TransportError`` if one of `files` cannot be read, or `/proc` is missing.
    init(_ files: [String]) throws(TransportError) {
        descriptor = siwa_memory_file("siwa-authorities")
        guard descriptor >= 0 else { throw Self.noMemory }
        for file in files { try append(file) }
        guard access(path, R_OK) == 0 else { throw Self.failure("/proc") }
    }

    deinit { close(descriptor) }

    /// Whether a file begins with a byte order mark; false if it cannot be read.
    static func hasByteOrderMark(_ file: String) -> Bool {
        guard let stream = fopen(file, "re") else { return false }
        defer { fclose(stream) }
        var start = [UInt8](repeating: 0, count: byteOrderMark.count)
        return fread(&start, 1, start.count, stream) == start.count && start == byteOrderMark
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private func append(_ file: String) throws(TransportError) {
        guard let stream = fopen(file, "re") else { throw Self.failure(file) }
        defer { fclose(stream) }
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        var isBeginning = true
        while case let got = fread(&chunk, 1, chunk.count, stream), got > 0 {
            let isMarked = isBeginning && chunk[..<got].starts(with: Self.byteOrderMark)
            try write(chunk[(isMarked ? Self.byteOrderMark.count : 0)..<got])
            isBeginning = false
        }
        guard ferror(stream) == 0 else { throw Self.failure(file) }
        // The last line of a file may have no line end.
        try write([0x0A])
    }

    /// Writes all bytes. A limit of the file size also applies to memory files, and can cause a
    /// partial write first.
    private func write(_ bytes: ArraySlice<UInt8>) throws(TransportError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else { throw Self.noMemory }
            rest = rest.dropFirst(count)
        }
    }

    private static var noMemory: TransportError {
        let limit = [EFBIG: " (ulimit -f)", EMFILE: " (ulimit -n)"][errno] ?? ""
        return TransportError(
            .resources,
            "the authorities to trust do not fit in memory: "
                + "\(String(cString: strerror(errno)))\(limit)",
            requestMayHaveLeft: false)
    }

    private static func failure(_ name: String) -> TransportError {
        TransportError(
            .authorities, "'\(name)': \(String(cString: strerror(errno)))",
            requestMayHaveLeft: false)
    }
}
