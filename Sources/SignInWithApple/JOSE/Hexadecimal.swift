extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits a byte.
    public var hexadecimal: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            digits.append(hexadecimalDigit(byte >> 4))
            digits.append(hexadecimalDigit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}

private func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}
