internal import SIWACrypto
internal import SIWAJOSE

/// Checks that a text can be an authorization code, a refresh token or an access token of Apple's.
///
/// These consist of one or more of the characters 0x21 to 0x7E, and are never a JWT. Apple answers
/// 200 to the revocation of any text, so an invisible character would hide that the token was not
/// revoked. A word such as `null` is none of them. Apple's own answers are checked as well: what
/// passes can be stored and sent later.
///
/// - Throws: ``OpaqueTokenError``, which quotes only the first invalid character.
package func validateOpaqueToken(_ text: SecretText) throws(OpaqueTokenError) {
    guard text.bytes.count > 0 else { throw .empty }
    try validateVisibleText(text)
    guard !text.hasPrefix("eyJ") else { throw .jwt }
    if let word = placeholder(text) { throw .placeholder(word) }
}

/// The word for a missing value that a text is, in any case; nil if it is none. Apple refuses to
/// refresh it, which would be taken for the end of a token that nobody has.
private func placeholder(_ text: SecretText) -> String? {
    guard text.bytes.count <= longestPlaceholder else { return nil }
    let word = String(decoding: text.bytes.revealed(), as: UTF8.self)
    return placeholders.contains(word.lowercased()) ? word : nil
}

/// The words that programs and databases write for a missing value, in lower case.
private let placeholders: Set<String> = ["null", "undefined", "none", "nil", "n/a", "nan", "\\n"]

private let longestPlaceholder = 9

/// Checks that a text consists of the characters 0x21 to 0x7E without quotation marks, as
/// authorization codes, tokens and code verifiers do (RFC 7636 §4.1).
///
/// - Throws: ``OpaqueTokenError``, which quotes only the first invalid character.
package func validateVisibleText(_ text: SecretText) throws(OpaqueTokenError) {
    if let position = text.bytes.withSpan(firstInvalidByte) {
        throw OpaqueTokenError(invalidByteAt: position, of: text)
    }
}

/// The position of the first byte that no opaque token contains. Quotation marks are remains of
/// JSON or of a shell.
private func firstInvalidByte(of bytes: Span<UInt8>) -> Int? {
    let index = bytes.index { word in
        // The last operand marks bytes outside ASCII.
        word.marking(below: 0x21) | word.marking(UInt8(ascii: "\""))
            | word.marking(UInt8(ascii: "'")) | word.marking(0x7F) | word
    }
    return index < bytes.count ? index : nil
}

/// Why a text cannot be an authorization code, a refresh token or an access token of Apple's.
package enum OpaqueTokenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A text without characters.
    case empty
    /// A space or an ASCII control character, such as a line end.
    case spaceOrControl
    /// A quotation mark.
    case quotationMark
    /// A character outside ASCII.
    case character(Unicode.Scalar)
    /// A byte that is not UTF-8.
    case byte(UInt8)
    /// A JWT, such as an identity token.
    case jwt
    /// A word that programs write for a missing value.
    case placeholder(String)
    /// A visible ASCII character that is outside RFC 6750's `b64token`.
    case symbol(Unicode.Scalar)

    init(invalidByteAt position: Int, of text: SecretText) {
        let byte = text.bytes.withSpan { $0[position] }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): self = .quotationMark
        case ..<0x80: self = .spaceOrControl
        default: self = Self.character(at: position, of: text).map(Self.character) ?? .byte(byte)
        }
    }

    /// The character that begins at a byte; nil if the bytes are not UTF-8.
    private static func character(at position: Int, of text: SecretText) -> Unicode.Scalar? {
        let bytes = text.bytes.withSpan { bytes in
            (position..<min(position + 4, bytes.count)).map { bytes[$0] }
        }
        let character = String(decoding: bytes, as: UTF8.self).unicodeScalars.first
        return bytes.starts(with: character.map { Array(String($0).utf8) } ?? [0]) ? character : nil
    }

    /// The end of a sentence that begins with the name of the token.
    package var description: String {
        switch self {
        case .empty: "is empty"
        case .spaceOrControl, .quotationMark:
            "contains a space, a quotation mark or a control character"
        case .character(let character):
            "has the character U+\(Int(character.value).padded(to: 4, radix: 16)) in it, which no token has"
        case .byte(let byte):
            "has the byte 0x\(Int(byte).padded(to: 2, radix: 16)) in it, which no token has"
        case .jwt: "is a JWT, such as an identity token, not what Apple's endpoint takes"
        case .placeholder(let word):
            "is '\(word)', which programs write for a missing value: an unset variable?"
        case .symbol(let symbol):
            "has the character '\(symbol)' in it, which no token has"
                + (Self.slip(behind: symbol).map { ": \($0)?" } ?? "")
        }
    }

    /// The mistake that usually brings a character into a token.
    private static func slip(behind symbol: Unicode.Scalar) -> String? {
        switch symbol {
        case "$": "a variable that was not set or not expanded"
        case ",", ";", "|": "a line of a CSV file"
        case "{", "}", "[", "]": "JSON in place of its member"
        case "@": "a file or a variable, whose '@' must come first"
        case ":", "\\": "the name of a file, which needs '@' in front"
        case "=": "NAME=VALUE in place of the value"
        case "%": "a percent-encoded text"
        default: nil
        }
    }
}
