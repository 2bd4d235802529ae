internal import SIWACrypto
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import Synchronization

/// The id of a request in logs.
enum RequestID {
    /// The caller's `X-Request-Id` if it has 1 to 128 letters, digits, dots, underscores and
    /// hyphens; otherwise a random id.
    static func of(_ request: ServerRequest) -> String {
        guard let given = request.fields.only("x-request-id"), isUsable(given) else {
            return random()
        }
        return given
    }

    private static func isUsable(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { isUnreserved($0) && $0 != UInt8(ascii: "~") }
    }

    /// A number of 13 digits to the base 32, which no other request of the process has. Swift keeps a text
    /// of that length without memory of its own.
    static func random() -> String {
        // SplitMix64: asking the system for each number would take longer than routing a request.
        var number = last.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        number ^= number >> 31
        return String(capacity: 13) { digits in
            for position in 0..<13 {
                let digit = UInt8(truncatingIfNeeded: number >> (5 * position) & 31)
                digits.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
            }
        }
    }

    private static let last = Atomic(UInt64.random(in: .min ... .max))
}
