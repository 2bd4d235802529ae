/// The content of a DER file that is not a private key, recognised by its first tags: DER has no
/// BEGIN line that would name it.
enum ForeignDER {
    /// Nil for a private key and for unknown content.
    static func name(of der: Span<UInt8>) -> PrivateKeyError? {
        // In a private key, the version follows; in all formats here, a SEQUENCE.
        guard let outer = content(ofSequenceAt: 0, in: der),
            let inner = content(ofSequenceAt: outer, in: der), inner < der.count
        else { return nil }
        switch der[inner] {
        case 0x06:
            let isEncrypted = encryptions.contains { isIdentifier($0, at: inner, in: der) }
            return isEncrypted ? .encrypted : .notAPrivateKey(.publicKey)
        case 0xA0: return .notAPrivateKey(.certificate)
        case 0x02: return .notAPrivateKey(.certificateRequest)
        default: return nil
        }
    }

    /// The beginnings of PKCS#5's and PKCS#12's algorithms: 1.2.840.113549.1.5, .1.12.1.
    private static let encryptions: [[UInt8]] = [
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05],
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x01],
    ]

    private static func isIdentifier(
        _ beginning: [UInt8], at start: Int, in der: Span<UInt8>
    ) -> Bool {
        // Tag and length precede it.
        start + 2 + beginning.count <= der.count
            && beginning.indices.allSatisfy { der[start + 2 + $0] == beginning[$0] }
    }

    private static func content(ofSequenceAt start: Int, in der: Span<UInt8>) -> Int? {
        guard start + 1 < der.count, der[start] == 0x30 else { return nil }
        let length = der[start + 1]
        return length < 0x80 ? start + 2 : start + 2 + Int(length & 0x7F)
    }
}
