/// Texts nobody can guess, in the shapes Apple uses.
enum Fresh {
    static let hexadecimal = Array("0123456789abcdef")
    static let alphanumeric = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// `count` characters of `alphabet`; the system's generator cannot fail, unlike OpenSSL's.
    static func text(_ count: Int, of alphabet: [Character]) -> String {
        String((0..<count).map { _ in alphabet[Int.random(in: alphabet.indices)] })
    }

    /// `count` unpredictable bytes.
    static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255) }
    }

    /// A random UUID (RFC 9562 §5.4), as Apple numbers its requests.
    static func requestID() -> String {
        let variant = text(1, of: Array("89ab"))
        return [
            text(8, of: hexadecimal), text(4, of: hexadecimal), "4" + text(3, of: hexadecimal),
            variant + text(3, of: hexadecimal), text(12, of: hexadecimal),
        ].joined(separator: "-").uppercased()
    }
}
