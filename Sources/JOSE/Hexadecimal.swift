extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits a byte.
    package var hexadecimal: String {
        // Other modules cannot specialize it: of a batch of tokens, each has a fingerprint.
        @specialized(where Self == ArraySlice<UInt8>)
        get {
            var digits: [UInt8] = []
            digits.reserveCapacity(2 * underestimatedCount)
            for byte in self {
                digits.append(hexadecimalDigit(byte >> 4))
                digits.append(hexadecimalDigit(byte & 15))
            }
            return String(decoding: digits, as: UTF8.self)
        }
    }
}

private func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}
