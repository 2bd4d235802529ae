internal import SIWACrypto
internal import SIWAJOSE

/// Judges the code of an exchange, or the token of a refresh, that Apple refused: what was probably
/// given in its place.
///
/// - Returns: whether it has the shape of what Apple issues; nil for other requests.
func look(of text: SecretText, for request: RequestKind) -> TokenLook? {
    let bytes = text.bytes.revealed()
    let letter: Character
    switch request {
    case .exchange: letter = "c"
    case .refresh: letter = "r"
    default: return nil
    }
    if hasShape(bytes.span, letter) { return .usual }
    return .unusual(isPercentEncoded(bytes) ? .percentEncoded : slip(in: bytes))
}

/// Whether a form or a URL was not decoded: `%2E` is a dot, and no code or token has such a
/// character.
private func isPercentEncoded(_ bytes: [UInt8]) -> Bool {
    bytes.indices.dropLast(2).contains { index in
        bytes[index] == UInt8(ascii: "%")
            && bytes[(index + 1)...(index + 2)].allSatisfy {
                $0.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0 | 0x20)
            }
    }
}
