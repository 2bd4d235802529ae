internal import Glibc
internal import SIWALifecycle

/// Header fields in libmicrohttpd's buffer. libmicrohttpd ends each text with a NUL, and does not
/// report a NUL from the client. The fields are adjacent in one buffer, so the rest of a value that
/// was cut at a NUL is between its end and the next name.
struct ReceivedFields {
    private(set) var fields: [HTTPField] = []
    /// Whether a field before the last one was cut.
    private(set) var hasNUL = false
    /// Where the last value ends, at its NUL.
    private var end: UnsafePointer<CChar>?

    // Most requests have fewer.
    init() { fields.reserveCapacity(8) }

    /// Adds the next field.
    mutating func append(_ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?) {
        guard let name else { return }
        if let end, case let gap = name - end, (0..<Self.longest).contains(gap) {
            hasNUL = hasNUL || (0..<gap).contains { !Self.isSpace(end[$0]) }
        }
        fields.append(HTTPField(String(cString: name), value.map { String(cString: $0) } ?? ""))
        end = (value ?? name).advanced(by: strlen(value ?? name))
    }

    /// Whether the last field was cut: the end of the header section must follow it; libmicrohttpd
    /// has replaced its characters by NULs.
    var isLastCut: Bool { end.map { !Self.isSpace($0[1]) } ?? false }

    /// Whether a byte may be between two fields.
    private static func isSpace(_ byte: CChar) -> Bool {
        [0, 0x09, 0x0A, 0x0D, 0x20].contains(byte)
    }

    /// Longer than any header section: a greater distance means that the texts are not in one
    /// buffer.
    private static let longest = 1 << 20
}
