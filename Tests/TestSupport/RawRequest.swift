/// One HTTP/1.1 request as it came, byte for byte.
package struct RawRequest: Sendable, Hashable {
    /// The request line and the header, with the empty line at the end.
    package let head: String
    /// The body.
    package let body: String

    /// The request line.
    package var line: String { head.components(separatedBy: "\r\n").first ?? "" }

    /// The value of the first header field of this name; nil when it is not there.
    package subscript(name: String) -> String? {
        head.components(separatedBy: "\r\n").dropFirst().lazy.compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { return nil }
            return String(parts[1].drop { $0 == " " })
        }.first
    }

    /// The value of a form parameter, percent-encoding undone; nil when it is not there.
    package func parameter(_ name: String) -> String? {
        for pair in body.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, parts[0] == name { return percentDecoded(parts[1]) }
        }
        return nil
    }
}

/// Where a request ends in a stream of bytes.
struct RequestBoundary {
    let headCount: Int
    let bodyCount: Int

    /// Nil while the header is not complete.
    init?(_ bytes: some RandomAccessCollection<UInt8>) {
        let bytes = Array(bytes)
        let emptyLine = Array("\r\n\r\n".utf8)
        guard
            let end = bytes.indices.dropLast(3).first(where: {
                bytes[$0..<$0 + 4].elementsEqual(emptyLine)
            })
        else { return nil }
        headCount = end + 4
        let lines = String(decoding: bytes[..<end], as: UTF8.self).components(separatedBy: "\r\n")
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
        bodyCount =
            length.flatMap { Int($0.drop { $0 != ":" }.dropFirst().drop { $0 == " " }) } ?? 0
    }
}

private func percentDecoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), rest.count >= 2,
            let value = UInt8(String(Substring(rest.prefix(2))), radix: 16)
        {
            bytes.append(value)
            rest = rest.dropFirst(2)
        } else {
            bytes.append(byte)
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

extension String {
    /// Splits at every `separator`; without Foundation.
    func components(separatedBy separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
