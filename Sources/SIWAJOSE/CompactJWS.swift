package import SIWACrypto

/// A JWS in compact serialization (RFC 7515 §3.1), parsed and not verified. An object, because
/// copying a structure would count a reference to each of its parts.
package final class CompactJWS: Sendable {
    /// The JOSE header.
    package var header: JSON { heading.value }
    /// The JOSE header as received, with its common parameters.
    package let heading: JOSEHeader
    /// The claims as values, which are created at each call.
    package var payload: JSON { claims.value }
    /// The claims, as received.
    package let claims: TokenClaims
    /// The signature after the second dot, as received.
    package let signature: [UInt8]
    /// The token as it was read.
    package let bytes: [UInt8]
    /// The number of ``bytes`` that are signed.
    package let signedCount: Int
    /// Nil unless the token's reader computes them.
    package let hashes: TokenHashes?

    /// The bytes that are signed: header, dot and payload, as received.
    package var signingInput: [UInt8] { Array(bytes[..<signedCount]) }

    /// Parses a token.
    ///
    /// - Throws: ``CompactJWSError``, which names the part at fault.
    package convenience init(_ token: [UInt8]) throws(CompactJWSError) {
        var reader = CompactJWSReader()
        let (heading, claims, signature, signedCount) = try reader.parts(of: token)
        self.init(
            heading: heading, claims: claims, signature: signature, bytes: token,
            signedCount: signedCount, hashes: nil)
    }

    /// Parses a token.
    ///
    /// - Throws: ``CompactJWSError``, as for bytes.
    package convenience init(_ token: String) throws(CompactJWSError) {
        try self.init(Array(token.utf8))
    }

    /// Apple's tokens have about a thousand characters; a longer text is not a token.
    package static let limit = 64 * 1024

    /// Signs `payload` with `header`. Only the signature is not determined by the arguments.
    package static func sign<Failure: Error>(
        header: JSON, payload: JSON, with signature: (Span<UInt8>) throws(Failure) -> [UInt8]
    ) throws(Failure) -> SecretBytes {
        let input = signingInput(header: header, payload: payload)
        return compact(input, signature: try input.withSpan(signature))
    }

    /// What is signed: header and payload in base64url, with a full stop between them (RFC 7515
    /// §5.1).
    package static func signingInput(header: JSON, payload: JSON) -> SecretBytes {
        var input = SecretBuffer(capacity: 512)
        input.append(contentsOf: Base64URL.encodedBytes(header.bytes).span)
        input.append(UInt8(ascii: "."))
        input.append(contentsOf: Base64URL.encodedBytes(payload.bytes).span)
        return input.finished()
    }

    /// The compact serialization of what was signed, and its signature.
    package static func compact(_ signingInput: SecretBytes, signature: [UInt8]) -> SecretBytes {
        let encoded = Base64URL.encodedBytes(signature)
        var token = SecretBuffer(capacity: signingInput.count + 1 + encoded.count)
        signingInput.withSpan { token.append(contentsOf: $0) }
        token.append(UInt8(ascii: "."))
        token.append(contentsOf: encoded.span)
        return token.finished()
    }

    /// Creates a token from its parts.
    init(
        heading: JOSEHeader, claims: TokenClaims, signature: [UInt8], bytes: [UInt8],
        signedCount: Int, hashes: TokenHashes?
    ) {
        self.hashes = hashes
        (self.heading, self.claims) = (heading, claims)
        (self.signature, self.bytes, self.signedCount) = (signature, bytes, signedCount)
    }
}

/// The SHA-256 of a token and of its signed part, which is its beginning: both cost little more
/// than one.
package struct TokenHashes: Sendable {
    /// The hash of what is signed.
    package let signed: [32 of UInt8]
    /// The hash of the whole token.
    package let whole: [32 of UInt8]

    /// Nil if the system's policy disables SHA-256.
    init?(of token: Span<UInt8>, signedCount: Int) {
        guard
            let hashes = try? SHA256.digests(ofFirst: signedCount, andAllOf: token)
        else { return nil }
        (signed, whole) = (hashes.first, hashes.all)
    }
}

/// Why a text is not a compact JWS.
package enum CompactJWSError: Error, Hashable, Sendable {
    /// A part of the token.
    package enum Part: String, Sendable {
        /// The first part.
        case header
        /// The second part.
        case payload
        /// The third part.
        case signature
    }

    /// More characters than any token has.
    case tooLong(Int)
    /// Not three parts between dots.
    case parts(Int)
    /// A part is not base64url.
    case base64URL(Part, Base64URLError)
    /// A part is not JSON.
    case json(Part, JSONError)
    /// A part that is JSON, but not an object.
    case notAnObject(Part)
}

extension CompactJWSError: CustomStringConvertible {
    /// What is wrong, without quoting the token.
    package var description: String {
        switch self {
        case .tooLong(let count): "\(count) characters are more than any token has"
        case .parts(1): "it has no dot, a JWT has 3 parts between dots"
        case .parts(let count): "it has \(count) parts between dots, a JWT has 3"
        case .base64URL(let part, let error): "its \(part) is not base64url: \(error)"
        case .json(let part, let error): "its \(part) \(error)"
        case .notAnObject(let part): "its \(part) is not a JSON object"
        }
    }
}
