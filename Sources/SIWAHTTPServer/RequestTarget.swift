internal import Glibc

/// The path and the query of a request line: split first, then percent-decoded once.
package struct RequestTarget: Hashable, Sendable {
    /// The segments between the slashes, decoded. `/` has one, which is empty.
    package let segments: [String]
    /// The parameters of the query in the order received, decoded.
    package let parameters: [Parameter]

    /// A parameter of a query.
    package struct Parameter: Hashable, Sendable {
        /// The name before the first `=`, decoded.
        package let name: String
        /// Its value; empty without `=`.
        package let value: String
    }

    /// Reads a target in origin form or in absolute form (RFC 9112 §3.2.1 and §3.2.2); nil if it is
    /// neither, or if it contains an invalid percent-encoding, a control character, or bytes that
    /// are not UTF-8.
    package init?(_ target: String) {
        guard let bytes = Self.originForm(of: target.utf8[...]) else { return nil }
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        var segments: [String] = []
        // The path of an absolute form may be empty, which means the root (RFC 9110 §4.2.3).
        for part in path.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            guard let segment = Self.decoded(part, plusIsSpace: false) else { return nil }
            segments.append(segment)
        }
        var parameters: [Parameter] = []
        for part in bytes.dropFirst(path.count + 1).split(separator: UInt8(ascii: "&")) {
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            guard let decodedName = Self.decoded(name, plusIsSpace: true),
                let value = Self.decoded(part.dropFirst(name.count + 1), plusIsSpace: true)
            else { return nil }
            parameters.append(Parameter(name: decodedName, value: value))
        }
        (self.segments, self.parameters) = (segments, parameters)
    }

    /// The path and the query of a target, without the scheme and the authority of an absolute form.
    private static func originForm(of target: Substring.UTF8View) -> Substring.UTF8View? {
        guard target.first != UInt8(ascii: "/") else { return target }
        for scheme in ["http://", "https://"] {
            let start = target.prefix(scheme.utf8.count)
            guard start.elementsEqual(scheme.utf8, by: isSameLetter) else { continue }
            let rest = target.dropFirst(scheme.utf8.count)
            let authority = rest.prefix { !endsAuthority($0) }
            guard !authority.isEmpty, authority.allSatisfy(isInAuthority) else { return nil }
            return rest.dropFirst(authority.count)
        }
        return nil
    }

    /// Compares a byte with a lowercase letter or a sign; schemes have no case.
    private static func isSameLetter(_ byte: UInt8, _ expected: UInt8) -> Bool {
        byte == expected || (0x41...0x5A).contains(byte) && byte | 0x20 == expected
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?")
    }

    /// Visible ASCII, except for what two readers may take for the end of the authority, or for user
    /// information (RFC 9110 §4.2.4).
    private static func isInAuthority(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "@") && byte != UInt8(ascii: "\\")
            && byte != UInt8(ascii: "#")
    }

    private static func decoded(_ part: Substring.UTF8View, plusIsSpace: Bool) -> String? {
        // Nearly all parts need no decoding.
        if part.allSatisfy(isPlain) { return String(Substring(part)) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(part.count)
        var rest = part.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit)
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        return text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            ? text : nil
    }

    /// Visible ASCII that has no other meaning.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "+")
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.flatMap(UInt8.init(exactly:))
    }
}

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
