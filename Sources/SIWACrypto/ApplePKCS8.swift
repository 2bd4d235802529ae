internal import SIWACOpenSSL

/// A `.p8` file in exactly Apple's encoding: PKCS#8 with an ECPrivateKey on prime256v1, with or
/// without the curve repeated inside, and the public point at the end.
///
/// Everything except the scalar and the point is compared byte by byte; OpenSSL's decoder reads all
/// other encodings. This type exists because starting that decoder takes a seventh of the time for
/// minting a secret (docs/decisions/key-loading.md).
struct ApplePKCS8 {
    private let scalar: SecretBytes
    private let point: [UInt8]

    init?(_ der: SecretBytes) {
        guard let layout = Self.layouts.first(where: { $0.fits(der) }) else { return nil }
        (scalar, point) = der.withSpan { bytes in
            let scalarStart = layout.head.count
            let pointStart = scalarStart + 32 + layout.middle.count
            var scalar = SecretBuffer(capacity: 32)
            for index in scalarStart..<scalarStart + 32 { scalar.append(bytes[index]) }
            let point = (pointStart..<pointStart + 65).map { bytes[$0] }
            return (scalar.finished(), point)
        }
    }

    /// - Throws: ``OpenSSLError`` if the point is not on the curve.
    func key() throws(OpenSSLError) -> Owned<Key> {
        try ellipticKey(point: point, scalar: scalar, selection: siwa_selection_keypair())
    }

    /// The constant bytes before the scalar, and between it and the point.
    private struct Layout {
        let head: [UInt8]
        let middle: [UInt8]

        func fits(_ der: SecretBytes) -> Bool {
            guard der.count == head.count + 32 + middle.count + 65 else { return false }
            return der.withSpan { bytes in
                head.indices.allSatisfy { bytes[$0] == head[$0] }
                    && middle.indices.allSatisfy { bytes[head.count + 32 + $0] == middle[$0] }
                    && bytes[head.count + 32 + middle.count] == 4
            }
        }
    }

    /// SEQUENCE { 0, SEQUENCE { ecPublicKey, prime256v1 }, OCTET STRING { SEQUENCE { 1, scalar,
    /// [0] prime256v1 (Apple) or absent (OpenSSL), [1] BIT STRING point } } }
    private static let layouts = [
        layout(total: 0x93, inner: 0x79, wrapped: 0x77, parameters: [0xA0, 0x0A] + curve),
        layout(total: 0x87, inner: 0x6D, wrapped: 0x6B, parameters: []),
    ]

    private static let algorithm: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    private static let curve: [UInt8] = [
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]

    private static func layout(
        total: UInt8, inner: UInt8, wrapped: UInt8, parameters: [UInt8]
    ) -> Layout {
        Layout(
            head: [0x30, 0x81, total, 0x02, 0x01, 0x00, 0x30, 0x13] + algorithm + curve
                + [0x04, inner, 0x30, wrapped, 0x02, 0x01, 0x01, 0x04, 0x20],
            middle: parameters + [0xA1, 0x44, 0x03, 0x42, 0x00])
    }
}
