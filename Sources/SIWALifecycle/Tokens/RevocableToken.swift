internal import SIWACrypto

/// How a text that is to be revoked looks, which decides what is believed of its revocation.
package enum TokenLook: Hashable, Sendable {
    /// It has the shape of the recorded tokens of its kind.
    case usual
    /// It can be a token, but has another shape: Apple may change the shape, or it is no token.
    case unusual(TokenSlip?)

    /// Whether it has another shape than the recorded tokens.
    package var isUnusual: Bool { self != .usual }
}

/// What was probably given in place of a token.
package enum TokenSlip: Hashable, Sendable, CaseIterable {
    /// The name of a file.
    case fileName
    /// A user identifier.
    case userID
    /// An authorization code.
    case code
    /// A refresh token as an access token.
    case refreshToken
    /// An access token as a refresh token.
    case accessToken
    /// A text from a form or a URL that was not decoded.
    case percentEncoded

    /// What the text looks like.
    package var description: String {
        switch self {
        case .fileName: "the name of a file"
        case .userID: "a user identifier"
        case .code: "an authorization code"
        case .refreshToken: "a refresh token"
        case .accessToken: "an access token"
        case .percentEncoded: "a percent-encoded text"
        }
    }
}

/// Judges a text that is to be revoked as a token, because Apple answers 200 to the revocation of
/// any text, and refuses to refresh any that is no token.
///
/// - Returns: whether it has the shape of Apple's tokens; see ``TokenLook``.
/// - Throws: ``OpaqueTokenError`` for a text that cannot be a token: a JWT, a word such as `null`,
///   and everything but RFC 6750's `b64token`.
package func judgeRevocable(
    _ text: SecretText, as kind: TokenKind
) throws(OpaqueTokenError) -> TokenLook {
    try validateOpaqueToken(text)
    if text.bytes.withSpan({ hasShape($0, kind.firstLetter) }) { return .usual }
    let bytes = text.bytes.revealed()
    let end = bytes.lastIndex { $0 != UInt8(ascii: "=") }.map { $0 + 1 } ?? 0
    // What remains of equals signs alone is not a token either.
    if let other = bytes[..<end].first(where: { !isB64TokenByte($0) })
        ?? (end == 0 ? bytes.first : nil)
    {
        throw .symbol(Unicode.Scalar(other))
    }
    return .unusual(slip(in: bytes))
}

/// Whether a text that should be an id has the shape of Apple's refresh tokens.
package func looksLikeToken(_ text: String) -> Bool {
    hasShape(text.utf8.span, TokenKind.refreshToken.firstLetter)
}

/// RFC 6750 §2.1, without the `=` at the end.
private func isB64TokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
        UInt8(ascii: "+"), UInt8(ascii: "/"):
        true
    default: isAlphanumeric(byte)
    }
}

private func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"):
        true
    default: false
    }
}

private func isLowerHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
    default: false
    }
}

private func isShardLetter(_ byte: UInt8) -> Bool {
    byte != UInt8(ascii: "o") && (UInt8(ascii: "m")...UInt8(ascii: "z")).contains(byte)
}

private func isBase64URL(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
}

/// Whether bytes are `<letter><32 lower-case hexadecimal digits>.0.<shard>.<22 base64url>`, the
/// shape of all recorded tokens and codes. The shard is three to five of thirteen letters.
func hasShape(_ bytes: Span<UInt8>, _ letter: Character) -> Bool {
    // Only the length of the shard varies.
    guard (62...64).contains(bytes.count), bytes[0] == letter.asciiValue else { return false }
    let end = bytes.count - 22
    for index in 1..<33 where !isLowerHexadecimal(bytes[index]) { return false }
    for index in 36..<(end - 1) where !isShardLetter(bytes[index]) { return false }
    for index in end..<bytes.count where !isBase64URL(bytes[index]) { return false }
    return bytes.extracting(33..<36).isExactly(".0.") && bytes[end - 1] == UInt8(ascii: ".")
}

func slip(in bytes: [UInt8]) -> TokenSlip? {
    if hasShape(bytes.span, "c") { return .code }
    if hasShape(bytes.span, TokenKind.refreshToken.firstLetter) { return .refreshToken }
    if hasShape(bytes.span, TokenKind.accessToken.firstLetter) { return .accessToken }
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    if parts.count == 3, parts.first?.count == 6,
        parts.joined().allSatisfy(isLowerHexadecimal)
    {
        return .userID
    }
    let isPath = bytes.contains(UInt8(ascii: "/")) && bytes.count <= longestName
    let hasSuffix =
        parts.count >= 2 && (parts.last.map { (1...6).contains($0.count) } ?? false)
        && bytes.count <= longestName
    return isPath || hasSuffix ? .fileName : nil
}

/// A longer text is rather a token of an unknown shape than a name.
private let longestName = 64

extension TokenKind {
    /// The letter with which the recorded tokens begin.
    fileprivate var firstLetter: Character {
        switch self {
        case .refreshToken: "r"
        case .accessToken: "a"
        }
    }
}
