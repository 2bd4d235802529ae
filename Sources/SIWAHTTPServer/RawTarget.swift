internal import Glibc

/// The target in a request line, in libmicrohttpd's buffer. libmicrohttpd ends each text with a
/// NUL, and does not report a NUL from the client.
struct RawTarget: Sendable {
    /// The target up to its first NUL.
    let text: String
    private let isUTF8: Bool
    /// Its addresses in libmicrohttpd's buffer, including the end.
    private let place: Range<UInt>

    init(_ pointer: UnsafePointer<CChar>) {
        let valid = String(validatingCString: pointer)
        (text, isUTF8) = (valid ?? String(cString: pointer), valid != nil)
        place = Self.place(of: pointer)
    }

    /// Whether the client sent invalid UTF-8, or more bytes between method, target and version,
    /// which are adjacent in one buffer.
    ///
    /// - Parameter version: a text outside the buffer if the client sent no version.
    func isMalformed(
        between method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>?
    ) -> Bool {
        !isUTF8 || Self.isGap(Self.place(of: method).upperBound, place.lowerBound)
            || Self.isGap(place.upperBound, UInt(bitPattern: version))
    }

    /// Whether there are bytes between two addresses of one buffer.
    private static func isGap(_ end: UInt, _ next: UInt) -> Bool {
        next > end && next - end < longest
    }

    private static func place(of text: UnsafePointer<CChar>) -> Range<UInt> {
        let start = UInt(bitPattern: text)
        return start..<start + UInt(strlen(text)) + 1
    }

    /// Longer than any request line.
    private static let longest: UInt = 1 << 20
}
