internal import SIWACOpenSSL

/// An ES256 signature as JWS requires it: r and s, 32 big-endian bytes each, with leading zeros
/// (RFC 7518 §3.4). Converts from and to OpenSSL's DER.
package struct P256Signature: Hashable, Sendable {
    /// r and s, one after the other: always 64 bytes.
    package let rawRepresentation: [UInt8]

    /// Creates a signature from r and s; nil unless there are exactly 64 bytes.
    package init?(rawRepresentation: some Collection<UInt8>) {
        guard rawRepresentation.count == 64 else { return nil }
        self.rawRepresentation = [UInt8](rawRepresentation)
    }

    /// Reads ASN.1 DER (RFC 3279 §2.2.3), the format of OpenSSL.
    package init(der: [UInt8]) throws(OpenSSLError) {
        let signature = try Owned<ECDSASignature>(
            der.withUnsafeBufferPointer { bytes in
                var cursor = bytes.baseAddress
                return openssl.d2i_ECDSA_SIG(nil, &cursor, bytes.count)
            })
        var raw = [UInt8](repeating: 0, count: 64)
        let padded = raw.withUnsafeMutableBufferPointer { bytes -> CInt in
            guard let r = bytes.baseAddress else { return 0 }
            let written =
                openssl.BN_bn2binpad(openssl.ECDSA_SIG_get0_r(signature.pointer), r, 32)
                + openssl.BN_bn2binpad(openssl.ECDSA_SIG_get0_s(signature.pointer), r + 32, 32)
            return written == 64 ? 1 : 0
        }
        try check(padded)
        rawRepresentation = raw
    }

    /// The signature in DER.
    func der() throws(OpenSSLError) -> [UInt8] {
        let signature = try Owned<ECDSASignature>(openssl.ECDSA_SIG_new())
        let r = try number(rawRepresentation[..<32])
        let s = try number(rawRepresentation[32...])
        // set0 takes ownership of both numbers, but only if it succeeds.
        let (rPointer, sPointer) = (r.release(), s.release())
        guard openssl.ECDSA_SIG_set0(signature.pointer, rPointer, sPointer) == 1 else {
            BigNumber.free(rPointer)
            BigNumber.free(sPointer)
            throw .drained()
        }
        var der = [UInt8](repeating: 0, count: Int(openssl.i2d_ECDSA_SIG(signature.pointer, nil)))
        der.withUnsafeMutableBufferPointer { bytes in
            var cursor = bytes.baseAddress
            _ = openssl.i2d_ECDSA_SIG(signature.pointer, &cursor)
        }
        return der
    }

    private func number(_ bytes: ArraySlice<UInt8>) throws(OpenSSLError) -> Owned<BigNumber> {
        try Owned<BigNumber>(
            bytes.withUnsafeBufferPointer { openssl.BN_bin2bn($0.baseAddress, CInt($0.count), nil) }
        )
    }
}
