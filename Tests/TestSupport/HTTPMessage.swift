import Glibc

/// A request or an answer of HTTP/1.1.
package struct HTTPMessage: Sendable {
    /// The first line and the header fields.
    package let head: String
    /// What follows them.
    package let body: [UInt8]

    /// The status of an answer; nil for a request.
    package var status: Int? { head.split(separator: " ").dropFirst().first.flatMap { Int($0) } }

    /// The value of the first header field of this name; nil if it is absent.
    package subscript(name: String) -> String? { RawRequest(head: head, body: "")[name] }
}

/// Reads messages from a socket, one after another. Their lengths are given as siwa and curl spell
/// it: `Content-Length`.
struct HTTPMessageReader {
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    private var count = 0

    /// Waits for the next whole message; nil if the other side ends before.
    mutating func next(from socket: CInt) -> HTTPMessage? {
        while true {
            if let message = whole() { return message }
            if count == buffer.count { buffer += [UInt8](repeating: 0, count: buffer.count) }
            let start = count
            let got = buffer.withUnsafeMutableBytes { bytes in
                recv(socket, bytes.baseAddress.map { $0 + start }, bytes.count - start, 0)
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return nil }
            count += got
        }
    }

    /// Takes the first message out of the buffer, if it is there to its end.
    private mutating func whole() -> HTTPMessage? {
        guard let end = position(of: "\r\n\r\n", in: count) else { return nil }
        let headCount = end + 4
        let length = position(of: "\r\nContent-Length: ", in: headCount).map { field in
            buffer[(field + 18)...].prefix { (0x30...0x39).contains($0) }
                .reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        let whole = headCount + (length ?? 0)
        guard count >= whole else { return nil }
        let message = HTTPMessage(
            head: String(decoding: buffer[..<headCount], as: UTF8.self),
            body: Array(buffer[headCount..<whole]))
        if count > whole { buffer.replaceSubrange(..<(count - whole), with: buffer[whole..<count]) }
        count -= whole
        return message
    }

    /// Where a line end and what follows it begin; found by the C library, because tests read
    /// millions of messages.
    private func position(of text: String, in count: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return nil }
            var offset = 0
            while let found = memchr(start + offset, 0x0D, count - offset) {
                offset = UnsafeRawPointer(found) - start
                let rest = count - offset
                if rest >= text.utf8.count, memcmp(found, text, text.utf8.count) == 0 {
                    return offset
                }
                offset += 1
            }
            return nil
        }
    }
}
