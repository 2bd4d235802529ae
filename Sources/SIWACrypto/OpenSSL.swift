internal import COpenSSL
internal import Glibc

/// OpenSSL's libcrypto, loaded when it is first used (docs/decisions/linking.md).
package enum OpenSSL {
    /// Loads it, unless it is loaded. All of this module does so by itself; an early call can
    /// tell a library that is missing from a key that is bad.
    ///
    /// - Throws: ``OpenSSLError`` when it is missing or older than OpenSSL 3.
    package static func load() throws(OpenSSLError) {
        if let failure { throw failure }
    }
}

/// The library's functions. All are null when it cannot be loaded; they are called on objects made
/// by the funnels, `check` and ``Owned``, and inside those: both fail if it is not loaded.
let (openssl, failure) = find()

private func find() -> (siwa_openssl, OpenSSLError?) {
    var functions = siwa_openssl()
    guard siwa_openssl_load(&functions) else {
        let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
        return (siwa_openssl(), OpenSSLError(reasons: ["libcrypto cannot be loaded: \(reason)"]))
    }
    // The end of the process frees everything anyway; OpenSSL doing so first would pull it away
    // from under threads that still use it. Its error messages would be loaded by every start, and
    // few runs ever show one. The site's openssl.cnf is read as ever.
    _ = functions.OPENSSL_init_crypto(
        UInt64(OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS), nil)
    return (functions, nil)
}
