internal import HTTPServer
internal import Lifecycle

/// The id of a request in logs.
enum RequestID {
    /// The caller's `X-Request-Id` if it has 1 to 128 letters, digits, dots, underscores and
    /// hyphens; otherwise a random id.
    static func of(_ request: ServerRequest) -> String {
        guard let given = request.fields["x-request-id"], isUsable(given) else { return random() }
        return given
    }

    private static func isUsable(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: byte == 0x2D || byte == 0x2E || byte == 0x5F
                }
            }
    }

    /// 16 hexadecimal digits.
    static func random() -> String {
        let number = UInt64.random(in: .min ... .max)
        let digits = (0..<16).map { hexadecimal[Int(number >> ($0 * 4) & 15)] }
        return String(decoding: digits, as: UTF8.self)
    }

    private static let hexadecimal = Array("0123456789abcdef".utf8)
}
