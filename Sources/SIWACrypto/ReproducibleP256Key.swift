internal import SIWACOpenSSL

/// A P-256 key of a number that everybody may know, with signatures that are the same at every run
/// (RFC 6979): for test data. Not for keys that protect something: the number is not kept secret.
package struct ReproducibleP256Key: Sendable {
    private let scalar: [UInt8]
    /// The public half.
    package let publicKey: P256PublicKey

    /// Creates the key of a number of 32 bytes, big-endian, from 1 to the order of the curve.
    ///
    /// - Throws: ``OpenSSLError`` if the number is out of that range.
    package init(scalar: [UInt8]) throws(OpenSSLError) {
        let curve = try Curve()
        guard scalar.count == 32, try curve.isScalar(scalar) else {
            throw OpenSSLError(reasons: ["the number is not that of a P-256 key"])
        }
        let point = try curve.point(of: scalar)
        self.scalar = scalar
        publicKey = try P256PublicKey(x963Representation: [4] + point.x + point.y)
    }

    /// The private key, for certificates and PEM.
    ///
    /// - Throws: ``OpenSSLError`` if OpenSSL fails.
    package func privateKey() throws(OpenSSLError) -> P256PrivateKey {
        try P256PrivateKey(
            scalar: SecretBytes(scalar), point: publicKey.x963Representation)
    }

    /// Signs the SHA-256 of `message`, deterministically (RFC 6979 §3.2).
    package func signature(for message: [UInt8]) throws(OpenSSLError) -> P256Signature {
        let curve = try Curve()
        let hash = try curve.reduced(SHA256.digest(message.span))
        var nonces = Nonces()
        try nonces.begin(scalar, hash)
        while true {
            let nonce = try nonces.next()
            guard try curve.isScalar(nonce) else { continue }
            let r = try curve.reduced(curve.point(of: nonce).x)
            let s = try curve.proof(r, scalar, hash, nonce)
            let signature = P256Signature(rawRepresentation: r + s)
            if let signature, r.contains(where: { $0 != 0 }), s.contains(where: { $0 != 0 }) {
                return signature
            }
        }
    }

    /// The generator of RFC 6979 §3.2, which is HMAC_DRBG.
    private struct Nonces {
        private var key = [UInt8](repeating: 0, count: 32)
        private var value = [UInt8](repeating: 1, count: 32)

        mutating func begin(_ scalar: [UInt8], _ hash: [UInt8]) throws(OpenSSLError) {
            for mark: UInt8 in [0, 1] { try mix([mark] + scalar + hash) }
        }

        mutating func next() throws(OpenSSLError) -> [UInt8] {
            // The first is right but for one in 2³² cases; a later one needs another mixture.
            if isUsed { try mix([0]) }
            isUsed = true
            value = try HMAC.sha256(value, with: SecretBytes(key))
            return value
        }

        private var isUsed = false

        private mutating func mix(_ bytes: [UInt8]) throws(OpenSSLError) {
            key = try HMAC.sha256(value + bytes, with: SecretBytes(key))
            value = try HMAC.sha256(value, with: SecretBytes(key))
        }
    }
}

/// Arithmetic on P-256.
private struct Curve: ~Copyable {
    private let group: Owned<CurveGroup>
    private let scratch: Owned<NumberContext>
    /// Belongs to the group.
    private let order: OpaquePointer

    init() throws(OpenSSLError) {
        try Arithmetic.load()
        let group = try Owned<CurveGroup>(
            arithmetic.EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1))
        let scratch = try Owned<NumberContext>(arithmetic.BN_CTX_new())
        guard let order = arithmetic.EC_GROUP_get0_order(group.pointer) else { throw .drained() }
        self.order = order
        self.group = group
        self.scratch = scratch
    }

    /// Whether a number is from 1 to the order minus 1.
    func isScalar(_ bytes: [UInt8]) throws(OpenSSLError) -> Bool {
        let number = try number(bytes)
        return arithmetic.BN_ucmp(number.pointer, order) < 0 && bytes.contains { $0 != 0 }
    }

    /// A number modulo the order.
    func reduced(_ bytes: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let number = try number(bytes)
        let result = try Owned<BigNumber>(arithmetic.BN_new())
        try check(arithmetic.BN_nnmod(result.pointer, number.pointer, order, scratch.pointer))
        return try self.bytes(result.pointer)
    }

    /// A multiple of the base point.
    func point(of scalar: [UInt8]) throws(OpenSSLError) -> (x: [UInt8], y: [UInt8]) {
        let factor = try number(scalar)
        let point = try Owned<CurvePoint>(arithmetic.EC_POINT_new(group.pointer))
        let x = try Owned<BigNumber>(arithmetic.BN_new())
        let y = try Owned<BigNumber>(arithmetic.BN_new())
        try check(
            arithmetic.EC_POINT_mul(
                group.pointer, point.pointer, factor.pointer, nil, nil, scratch.pointer))
        try check(
            arithmetic.EC_POINT_get_affine_coordinates(
                group.pointer, point.pointer, x.pointer, y.pointer, scratch.pointer))
        return (try bytes(x.pointer), try bytes(y.pointer))
    }

    /// s of ECDSA: (hash + r · scalar) / nonce, modulo the order.
    func proof(
        _ r: [UInt8], _ scalar: [UInt8], _ hash: [UInt8], _ nonce: [UInt8]
    ) throws(OpenSSLError) -> [UInt8] {
        let r = try number(r)
        let scalar = try number(scalar)
        let hash = try number(hash)
        let nonce = try number(nonce)
        let inverse = try Owned<BigNumber>(
            arithmetic.BN_mod_inverse(nil, nonce.pointer, order, scratch.pointer))
        let result = try Owned<BigNumber>(arithmetic.BN_new())
        let value = result.pointer
        try check(arithmetic.BN_mod_mul(value, r.pointer, scalar.pointer, order, scratch.pointer))
        try check(arithmetic.BN_mod_add_quick(value, value, hash.pointer, order))
        try check(arithmetic.BN_mod_mul(value, value, inverse.pointer, order, scratch.pointer))
        return try bytes(value)
    }

    private func number(_ bytes: [UInt8]) throws(OpenSSLError) -> Owned<BigNumber> {
        try Owned<BigNumber>(openssl.BN_bin2bn(bytes, CInt(bytes.count), nil))
    }

    private func bytes(_ number: OpaquePointer) throws(OpenSSLError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        try check(openssl.BN_bn2binpad(number, &bytes, 32) == 32 ? 1 : 0)
        return bytes
    }
}
