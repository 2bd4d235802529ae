internal import SIWACrypto

extension UInt8 {
    /// Whether the byte is a decimal digit in ASCII.
    package var isDigit: Bool { UInt8(ascii: "0") <= self && self <= UInt8(ascii: "9") }

    /// Whether the byte is a lower-case hexadecimal digit in ASCII.
    package var isLowerCaseHexadecimal: Bool {
        isDigit || UInt8(ascii: "a") <= self && self <= UInt8(ascii: "f")
    }

    /// The two hexadecimal digits of the byte in ASCII.
    package func hexadecimalDigits(upperCase: Bool = false) -> (high: UInt8, low: UInt8) {
        let letters = UInt8(ascii: upperCase ? "A" : "a") - 10
        let (high, low) = (self >> 4, self & 15)
        return (
            high + (high < 10 ? UInt8(ascii: "0") : letters),
            low + (low < 10 ? UInt8(ascii: "0") : letters)
        )
    }
}

extension StringProtocol {
    /// Whether the text has decimal digits in ASCII only. `Int(_:)` accepts a sign as well.
    package var isDecimal: Bool {
        @specialized(where Self == String)
        @specialized(where Self == Substring)
        get { !isEmpty && utf8.allSatisfy { $0.isDigit } }
    }
}

extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits for each byte.
    package var hexadecimal: String { Array(self).span.hexadecimal }
}

extension Span<UInt8> {
    /// Two lower-case hexadecimal digits for each byte.
    package var hexadecimal: String {
        String(capacity: 2 * count) { digits in
            for index in indices {
                let (high, low) = self[index].hexadecimalDigits()
                digits.append(high)
                digits.append(low)
            }
        }
    }
}
