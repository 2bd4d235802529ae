/// Takes tokens apart, one after the other: most that come together have the same header, which
/// is read once.
public struct CompactJWSReader: Sendable {
    /// The header that was read last, and its text.
    private var last: (text: [UInt8], header: JSON)?

    /// A reader that has read nothing.
    public init() {}

    /// Takes a token apart.
    ///
    /// - Throws: ``CompactJWSError``, which names the part at fault.
    public mutating func read(_ token: [UInt8]) throws(CompactJWSError) -> CompactJWS {
        guard token.count <= CompactJWS.limit else { throw .tooLong(token.count) }
        let text = token.span
        let first = text.dot(from: 0)
        let second = text.dot(from: min(first + 1, text.count))
        do throws(CompactJWSError) {
            guard second < text.count else { throw .parts(2) }
            return CompactJWS(
                header: try header(token[..<first]),
                payload: try Self.object(text.extracting(first + 1..<second), in: .payload),
                signature: try Self.decode(text.extracting((second + 1)...), in: .signature),
                signingInput: Array(token[..<second]))
        } catch {
            // A third dot is no base64url: nobody need look for one in what was read well.
            let dots = token.count { $0 == UInt8(ascii: ".") }
            throw dots == 2 ? error : .parts(1 + dots)
        }
    }

    private mutating func header(_ text: ArraySlice<UInt8>) throws(CompactJWSError) -> JSON {
        if let last, last.text.span.isExactly(text.span) { return last.header }
        let header = try Self.object(text.span, in: .header)
        last = (Array(text), header)
        return header
    }

    private static func object(
        _ text: Span<UInt8>, in part: CompactJWSError.Part
    ) throws(CompactJWSError) -> JSON {
        let bytes = try decode(text, in: part)
        let value: JSON
        do {
            value = try JSON(bytes)
        } catch {
            throw .json(part, error)
        }
        guard value.members != nil else { throw .notAnObject(part) }
        return value
    }

    private static func decode(
        _ text: Span<UInt8>, in part: CompactJWSError.Part
    ) throws(CompactJWSError) -> [UInt8] {
        do {
            return try Base64URL.decode(text)
        } catch {
            throw .base64URL(part, error)
        }
    }
}

extension Span<UInt8> {
    fileprivate func dot(from start: Int) -> Int {
        index(from: start) { $0.marking(UInt8(ascii: ".")) }
    }
}
