extension Form {
    /// The parameters of a form that somebody else encoded.
    ///
    /// - Throws: ``FormError``.
    package static func decoded(_ form: [UInt8]) throws(FormError) -> [String: String] {
        guard form.count <= 64 * 1024 else { throw .tooLong }
        var parameters: [String: String] = [:]
        for pair in form.split(separator: UInt8(ascii: "&")) {
            let halves = pair.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = try decode(halves[0])
            let value = try decode(halves.count > 1 ? halves[1] : [])
            guard parameters.updateValue(value, forKey: name) == nil else { throw .repeated }
        }
        return parameters
    }

    private static func decode(_ text: ArraySlice<UInt8>) throws(FormError) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexadecimalValue),
                    let low = rest.popFirst().flatMap(hexadecimalValue)
                else { throw .encoding }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .encoding }
        return text
    }

    private static func hexadecimalValue(_ digit: UInt8) -> UInt8? {
        Character(UnicodeScalar(digit)).hexDigitValue.map(UInt8.init)
    }
}

/// Why a text is not a form.
package enum FormError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooLong
    case repeated
    case encoding

    package var description: String {
        switch self {
        case .tooLong: "is longer than 64 KiB"
        case .repeated: "has a parameter twice"
        case .encoding: "is not percent-encoded UTF-8"
        }
    }
}
