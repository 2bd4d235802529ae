internal import SIWACOpenSSL

/// Throws unless the key is on P-256.
func requireP256(_ key: OpaquePointer) throws(P256KeyError) {
    guard openssl.EVP_PKEY_is_a(key, "EC") == 1 else {
        throw .algorithm(
            openssl.EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown")
    }
    var name = [CChar](repeating: 0, count: 64)
    guard holds(openssl.EVP_PKEY_get_group_name(key, &name, name.count, nil)) else {
        throw .curve("unnamed")
    }
    let curve = String(
        decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard curve == "prime256v1" else { throw .curve(curve) }
}

/// The uncompressed point of an EC key, composed from its coordinates, because OpenSSL returns the
/// point in the form in which it was read.
func publicPoint(of key: OpaquePointer) throws(OpenSSLError) -> [UInt8] {
    let x = try coordinate(OSSL_PKEY_PARAM_EC_PUB_X, of: key)
    let y = try coordinate(OSSL_PKEY_PARAM_EC_PUB_Y, of: key)
    return [4] + x + y
}

private func coordinate(_ name: String, of key: OpaquePointer) throws(OpenSSLError) -> [UInt8] {
    var value: OpaquePointer?
    try check(openssl.EVP_PKEY_get_bn_param(key, name, &value))
    let number = try Owned<BigNumber>(value)
    var bytes = [UInt8](repeating: 0, count: 32)
    try check(openssl.BN_bn2binpad(number.pointer, &bytes, 32) == 32 ? 1 : 0)
    return bytes
}

/// Creates a P-256 key from its point and, if given, its scalar.
func ellipticKey(
    point: [UInt8], scalar: SecretBytes? = nil, selection: CInt
) throws(OpenSSLError) -> Owned<Key> {
    let builder = try Owned<ParameterBuilder>(openssl.OSSL_PARAM_BLD_new())
    // The builder keeps pointers until the parameters are created: names and curve are constants,
    // and the point and the scalar are lent until then.
    try check(
        openssl.OSSL_PARAM_BLD_push_utf8_string(
            builder.pointer, siwa_name_group, siwa_curve_p256, 0))
    let made = try point.span.withUnsafeBytes { point throws(OpenSSLError) in
        try check(
            openssl.OSSL_PARAM_BLD_push_octet_string(
                builder.pointer, siwa_name_public, point.baseAddress, point.count))
        guard let scalar else {
            return try key("EC", from: builder.pointer, selection: selection).release()
        }
        let number = try secretNumber(scalar)
        return try withExtendedLifetime(number) { () throws(OpenSSLError) in
            try check(
                openssl.OSSL_PARAM_BLD_push_BN(builder.pointer, siwa_name_private, number.pointer))
            return try key("EC", from: builder.pointer, selection: selection).release()
        }
    }
    return try Owned<Key>(made)
}

private func secretNumber(_ bytes: SecretBytes) throws(OpenSSLError) -> Owned<BigNumber> {
    // With a secure number, OpenSSL also overwrites the parameters' copy when it is freed.
    let number = try Owned<BigNumber>(openssl.BN_secure_new())
    openssl.ERR_clear_error()
    let filled = bytes.withUnsafeBytes {
        openssl.BN_bin2bn(
            $0.assumingMemoryBound(to: UInt8.self).baseAddress, CInt($0.count), number.pointer)
    }
    guard filled != nil else { throw .drained() }
    openssl.BN_set_flags(number.pointer, BN_FLG_CONSTTIME)
    return number
}

/// Creates a key of `algorithm` from parameters.
func key(
    _ algorithm: String, from builder: OpaquePointer, selection: CInt
) throws(OpenSSLError) -> Owned<Key> {
    openssl.ERR_clear_error()
    guard let parameters = openssl.OSSL_PARAM_BLD_to_param(builder) else { throw .drained() }
    defer { openssl.OSSL_PARAM_free(parameters) }
    let context = try Owned<KeyContext>(openssl.EVP_PKEY_CTX_new_from_name(nil, algorithm, nil))
    try check(openssl.EVP_PKEY_fromdata_init(context.pointer))
    var made: OpaquePointer?
    try check(openssl.EVP_PKEY_fromdata(context.pointer, &made, selection, parameters))
    return try Owned<Key>(made)
}
