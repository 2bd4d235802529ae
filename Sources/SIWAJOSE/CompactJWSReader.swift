internal import SIWACrypto

/// Parses tokens, one after the other. Tokens have few different headers, each of which is parsed
/// once.
package struct CompactJWSReader: Sendable {
    /// The latest different headers.
    private var headers: [Header] = []
    /// The index of the header to replace next, once the list is full.
    private var oldest = 0

    /// More than the keys that Apple has at a time.
    private static let mostHeaders = 32

    private struct Header {
        /// The encoded header of the tokens.
        let encoded: [UInt8]
        let content: JOSEHeader
    }

    /// Whether to compute ``CompactJWS/hashes``.
    private let isHashing: Bool

    /// A reader that has read nothing.
    ///
    /// - Parameter isHashing: computes ``CompactJWS/hashes``, for who needs both.
    package init(isHashing: Bool = false) { self.isHashing = isHashing }

    /// Parses a token.
    ///
    /// - Throws: ``CompactJWSError``, which names the part at fault.
    package mutating func read(_ token: consuming [UInt8]) throws(CompactJWSError) -> CompactJWS {
        let (heading, claims, signature, signedCount) = try parts(of: token)
        let hashes = isHashing ? TokenHashes(of: token.span, signedCount: signedCount) : nil
        return CompactJWS(
            heading: heading, claims: claims, signature: signature, bytes: token,
            signedCount: signedCount, hashes: hashes)
    }

    /// Parses a token into its parts.
    mutating func parts(
        of token: [UInt8]
    ) throws(CompactJWSError) -> (JOSEHeader, TokenClaims, signature: [UInt8], signedCount: Int) {
        guard token.count <= CompactJWS.limit else { throw .tooLong(token.count) }
        let (text, dot) = (token.span, UInt8(ascii: "."))
        do throws(CompactJWSError) {
            guard let first = text.firstIndex(of: dot),
                let second = text.firstIndex(of: dot, from: first + 1)
            else { throw .parts(2) }
            return (
                try header(text.extracting(first: first)),
                TokenClaims(try Self.object(text.extracting(first + 1..<second), in: .payload)),
                try Self.decode(text.extracting((second + 1)...), in: .signature),
                second
            )
        } catch {
            // A third dot would not be base64url, so the dots are counted only after an error.
            let dots = token.count { $0 == UInt8(ascii: ".") }
            throw dots == 2 ? error : .parts(1 + dots)
        }
    }

    private mutating func header(_ text: Span<UInt8>) throws(CompactJWSError) -> JOSEHeader {
        for index in headers.indices where headers[index].encoded.isExactly(text) {
            return headers[index].content
        }
        let header = JOSEHeader(try Self.object(text, in: .header))
        var encoded: [UInt8] = []
        encoded.append(addingCapacity: text.count) { $0.append(contentsOf: text) }
        remember(Header(encoded: encoded, content: header))
        return header
    }

    private mutating func remember(_ header: Header) {
        if headers.count < Self.mostHeaders { return headers.append(header) }
        headers[oldest] = header
        oldest = (oldest + 1) % Self.mostHeaders
    }

    private static func object(
        _ text: Span<UInt8>, in part: CompactJWSError.Part
    ) throws(CompactJWSError) -> JSONText {
        let bytes = try decode(text, in: part)
        let object: JSONText
        do {
            object = try JSONText(bytes)
        } catch {
            throw .json(part, error)
        }
        guard object.isObject else { throw .notAnObject(part) }
        return object
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
