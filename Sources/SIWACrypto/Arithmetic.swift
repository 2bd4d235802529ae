internal import Glibc
internal import SIWACOpenSSL

/// OpenSSL's arithmetic, loaded when it is first used.
enum Arithmetic {
    /// Must be called before ``arithmetic`` is used.
    ///
    /// - Throws: ``OpenSSLError`` if a function is missing.
    static func load() throws(OpenSSLError) {
        try OpenSSL.load()
        if let missing { throw missing }
    }
}

/// The functions, which are null if ``Arithmetic/load()`` throws.
let (arithmetic, missing) = find()

private func find() -> (siwa_openssl_arithmetic, OpenSSLError?) {
    var functions = siwa_openssl_arithmetic()
    guard siwa_openssl_arithmetic_load(&functions) else {
        let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
        return (
            siwa_openssl_arithmetic(),
            OpenSSLError(reasons: ["libcrypto lacks a function: \(reason)"])
        )
    }
    return (functions, nil)
}
