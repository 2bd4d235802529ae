internal import Glibc

/// The target in a request line, as libmicrohttpd lends it: it ends each text with a NUL, and does
/// not say when the client sent one.
struct RawTarget: Sendable {
    /// The target up to its first NUL.
    let text: String
    private let isUTF8: Bool
    /// Where it is in libmicrohttpd's buffer, its end included.
    private let place: Range<UInt>

    init(_ pointer: UnsafePointer<CChar>) {
        let valid = String(validatingCString: pointer)
        (text, isUTF8) = (valid ?? String(cString: pointer), valid != nil)
        place = Self.place(of: pointer)
    }

    /// Whether the client sent bad UTF-8, or something between method, target and version, which
    /// are next to each other in one buffer, each with its end.
    ///
    /// - Parameter version: a text elsewhere if the client sent none.
    func isMalformed(
        between method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>?
    ) -> Bool {
        !isUTF8 || Self.isGap(Self.place(of: method).upperBound, place.lowerBound)
            || Self.isGap(place.upperBound, UInt(bitPattern: version))
    }

    /// Whether two addresses of one buffer are not the same.
    private static func isGap(_ end: UInt, _ next: UInt) -> Bool {
        next > end && next - end < longest
    }

    private static func place(of text: UnsafePointer<CChar>) -> Range<UInt> {
        let start = UInt(bitPattern: text)
        return start..<start + UInt(strlen(text)) + 1
    }

    /// More than any request line has.
    private static let longest: UInt = 1 << 20
}
