import SIWACrypto
import Testing

/// The keys and signatures of RFC 7515's appendices: published, so not secret.
enum RFC7515 {
    /// A.3: the private key.
    static let scalar = bytes(base64: "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI")
    /// A.3: the public key, uncompressed.
    static let point =
        [0x04] + bytes(base64: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
        + bytes(base64: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")

    static let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    static let es256Input = Array("eyJhbGciOiJFUzI1NiJ9.\(payload)".utf8)
    static let es256Signature = bytes(
        base64:
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    )

    /// A.2: the public key.
    static let modulus = bytes(
        base64: """
            ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt\
            0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSX\
            ndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5\
            IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ
            """)
    static let exponent: [UInt8] = [1, 0, 1]
    static let rs256Input = Array("eyJhbGciOiJSUzI1NiJ9.\(payload)".utf8)
    static let rs256Signature = bytes(
        base64: """
            cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W\
            2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkS\
            jtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnv\
            Wh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
            """)

    /// A.3's private key, in one of its layouts.
    static func der(_ layout: Layout) -> SecretBytes { layout.der(scalar: scalar, point: point) }
}

@Suite struct RFC7515Tests {
    @Test func `A.3: the ES256 signature verifies`() throws {
        let key = try P256PublicKey(x963Representation: RFC7515.point)
        let signature = try #require(P256Signature(rawRepresentation: RFC7515.es256Signature))
        #expect(try key.verifies(signature, for: RFC7515.es256Input))
    }

    @Test func `A.3: a change of any bit of signature or message is detected`() throws {
        let key = try P256PublicKey(x963Representation: RFC7515.point)
        for bit in 0..<64 * 8 {
            let spoiled = RFC7515.es256Signature.flipping(bit)
            let signature = try #require(P256Signature(rawRepresentation: spoiled))
            #expect(try !key.verifies(signature, for: RFC7515.es256Input), "bit \(bit)")
        }
        let signature = try #require(P256Signature(rawRepresentation: RFC7515.es256Signature))
        for bit in 0..<RFC7515.es256Input.count * 8 {
            let spoiled = RFC7515.es256Input.flipping(bit)
            #expect(try !key.verifies(signature, for: spoiled), "bit \(bit)")
        }
    }

    @Test func `A.2: the RS256 signature verifies, and no other signature does`() throws {
        let key = try RSAPublicKey(modulus: RFC7515.modulus, exponent: RFC7515.exponent)
        #expect(key.bits == 2048)
        #expect(try key.verifies(RFC7515.rs256Signature, for: RFC7515.rs256Input))
        for bit in 0..<RFC7515.rs256Signature.count * 8 {
            let spoiled = RFC7515.rs256Signature.flipping(bit)
            #expect(try !key.verifies(spoiled, for: RFC7515.rs256Input), "bit \(bit)")
        }
    }
}

extension [UInt8] {
    /// A copy with one bit changed; bit 0 is the least of the first byte.
    func flipping(_ bit: Int) -> [UInt8] {
        var copy = self
        copy[bit / 8] ^= 1 << UInt8(bit % 8)
        return copy
    }
}
