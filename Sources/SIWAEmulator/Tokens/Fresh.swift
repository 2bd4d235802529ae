internal import SIWAJOSE
internal import SIWALifecycle

/// Unpredictable texts in the shapes Apple uses.
enum Fresh {
    static let alphanumeric = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// `count` characters of `alphabet`; the system's generator cannot fail, unlike OpenSSL's.
    static func text(_ count: Int, of alphabet: [Character]) -> String {
        String((0..<count).map { _ in alphabet[Int.random(in: alphabet.indices)] })
    }

    /// `count` unpredictable bytes, eight at a time, because each call is a system call.
    static func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count {
            let word = UInt64.random(in: 0...UInt64.max)
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return Array(bytes.prefix(count))
    }

    /// A random UUID (RFC 9562 §5.4), the form of Apple's request ids.
    static func requestID() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]]
            .map { $0.hexadecimal.uppercased() }.joined(separator: "-")
    }
}
