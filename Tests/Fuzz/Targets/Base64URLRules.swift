internal import SIWAJOSE

/// One text for each value, and one value for each text.
func checkBase64URL(_ input: [UInt8]) throws(Violation) {
    let text = Base64URL.encode(input)
    try demand((try? Base64URL.decode(text)) == input, "what is encoded decodes to itself")
    guard let value = try? Base64URL.decode(input) else { return }
    try demand(
        Array(Base64URL.encode(value).utf8) == input, "what decodes is what would be encoded")
}
