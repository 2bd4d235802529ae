import SIWACrypto
import Testing

/// Just enough DER (X.690) to write keys in every layout they occur in.
enum DER {
    static func sequence(_ parts: [UInt8]...) -> [UInt8] { tagged(0x30, parts.flatMap { $0 }) }
    static func integer(_ value: UInt8) -> [UInt8] { [0x02, 0x01, value] }
    static func octets(_ content: [UInt8]) -> [UInt8] { tagged(0x04, content) }
    static func bits(_ content: [UInt8]) -> [UInt8] { tagged(0x03, [0] + content) }
    static func context(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
        tagged(0xA0 | number, content)
    }

    static let ecPublicKey = bytes(hex: "06 07 2A8648CE3D0201")
    static let prime256v1 = bytes(hex: "06 08 2A8648CE3D030107")

    private static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        switch count {
        case 0..<128: return [tag, UInt8(count)] + content
        case 128..<256: return [tag, 0x81, UInt8(count)] + content
        default: return [tag, 0x82, UInt8(count >> 8), UInt8(count & 255)] + content
        }
    }
}

/// The layouts in which one P-256 private key occurs.
enum Layout: String, CaseIterable, CustomTestStringConvertible {
    case apple = "PKCS#8 with the curve repeated, as Apple writes it"
    case openSSL = "PKCS#8 as OpenSSL writes it"
    case noPoint = "PKCS#8 without the public point"
    case sec1 = "SEC 1"
    case sec1NoPoint = "SEC 1 without the public point"

    var testDescription: String { rawValue }

    func der(scalar: [UInt8], point: [UInt8]) -> SecretBytes {
        let curve = DER.context(0, DER.prime256v1)
        let publicPart = DER.context(1, DER.bits(point))
        let head = DER.integer(1) + DER.octets(scalar)
        switch self {
        case .apple: return pkcs8(DER.sequence(head, curve, publicPart))
        case .openSSL: return pkcs8(DER.sequence(head, publicPart))
        case .noPoint: return pkcs8(DER.sequence(head))
        case .sec1: return SecretBytes(DER.sequence(head, curve, publicPart))
        case .sec1NoPoint: return SecretBytes(DER.sequence(head, curve))
        }
    }

    private func pkcs8(_ key: [UInt8]) -> SecretBytes {
        SecretBytes(
            DER.sequence(
                DER.integer(0), DER.sequence(DER.ecPublicKey, DER.prime256v1), DER.octets(key)))
    }
}
