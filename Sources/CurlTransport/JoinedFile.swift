internal import CCurl
internal import Glibc
internal import SignInWithApple

/// Several files as one that is in memory alone, for libcurl, which takes one path. As bytes it
/// would take them, too, but copy them for every request.
final class JoinedFile: Sendable {
    private let descriptor: CInt

    /// Where it is found for as long as this object lives, by this process alone.
    var path: String { "/proc/self/fd/\(descriptor)" }

    /// - Throws: ``TransportError`` when one of `files` cannot be read, or there is no `/proc`.
    init(_ files: [String]) throws(TransportError) {
        descriptor = siwa_memory_file("siwa-authorities")
        guard descriptor >= 0 else { throw Self.failure("memory") }
        for file in files { try append(file) }
        guard access(path, R_OK) == 0 else { throw Self.failure("/proc") }
    }

    deinit { close(descriptor) }

    private func append(_ file: String) throws(TransportError) {
        guard let stream = fopen(file, "re") else { throw Self.failure(file) }
        defer { fclose(stream) }
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while case let got = fread(&chunk, 1, chunk.count, stream), got > 0 {
            guard write(descriptor, chunk, got) == got else { throw Self.failure("memory") }
        }
        guard ferror(stream) == 0 else { throw Self.failure(file) }
        // Its last line may lack an end.
        guard write(descriptor, "\n", 1) == 1 else { throw Self.failure("memory") }
    }

    private static func failure(_ name: String) -> TransportError {
        TransportError(
            .authorities, "'\(name)': \(String(cString: strerror(errno)))",
            requestMayHaveLeft: false)
    }
}
