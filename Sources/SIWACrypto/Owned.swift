internal import SIWACOpenSSL

/// One OpenSSL object with exactly one owner, freed when the owner's scope ends.
struct Owned<Kind: OpenSSLKind>: ~Copyable {
    let pointer: OpaquePointer

    /// Takes ownership of the object that `make` returns. Null is a failure; its reasons are taken
    /// from the thread's error queue here, before an `await` could change the thread.
    init(_ make: @autoclosure () -> OpaquePointer?) throws(OpenSSLError) {
        try OpenSSL.load()
        forgetErrors()
        guard let pointer = make() else { throw .drained() }
        self.pointer = pointer
    }

    /// Returns the object to the caller, who must free it.
    consuming func release() -> OpaquePointer {
        let pointer = self.pointer
        discard self
        return pointer
    }

    deinit { Kind.free(pointer) }
}

/// How one kind of OpenSSL object is freed.
protocol OpenSSLKind {
    static func free(_ pointer: OpaquePointer)
}

enum Digest: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.EVP_MD_free(pointer) }
}

enum Cipher: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.EVP_CIPHER_free(pointer) }
}

enum CipherContext: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.EVP_CIPHER_CTX_free(pointer) }
}

enum DigestContext: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.EVP_MD_CTX_free(pointer) }
}

enum Key: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.EVP_PKEY_free(pointer) }
}

enum KeyContext: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.EVP_PKEY_CTX_free(pointer) }
}

enum ECDSASignature: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.ECDSA_SIG_free(pointer) }
}

enum BigNumber: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.BN_clear_free(pointer) }
}

enum MemoryBIO: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.BIO_free_all(pointer) }
}

enum ParameterBuilder: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.OSSL_PARAM_BLD_free(pointer) }
}

enum CurveGroup: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { arithmetic.EC_GROUP_free(pointer) }
}

enum CurvePoint: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { arithmetic.EC_POINT_free(pointer) }
}

enum NumberContext: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { arithmetic.BN_CTX_free(pointer) }
}
