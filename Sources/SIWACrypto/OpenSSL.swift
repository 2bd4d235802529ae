internal import Glibc
internal import SIWACOpenSSL

/// OpenSSL's libcrypto, loaded when it is first used (docs/decisions/linking.md).
package enum OpenSSL {
    /// Loads the library, which this module also does on demand. An early call distinguishes a
    /// missing library from a bad key.
    ///
    /// - Throws: ``OpenSSLError`` if it is missing or older than OpenSSL 3.
    package static func load() throws(OpenSSLError) {
        if let failure { throw failure }
    }
}

/// The library's functions, which are null if it cannot be loaded. They are called only within
/// `check` and ``Owned``, which then fail, and on objects that these created.
let (openssl, failure) = find()

private func find() -> (siwa_openssl, OpenSSLError?) {
    var functions = siwa_openssl()
    guard siwa_openssl_load(&functions) else {
        let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
        return (siwa_openssl(), OpenSSLError(reasons: ["libcrypto cannot be loaded: \(reason)"]))
    }
    // Disables OpenSSL's cleanup at exit, which would free memory that other threads still use, and
    // the loading of error messages, which few runs need. The system's openssl.cnf is read as
    // usual.
    _ = functions.OPENSSL_init_crypto(
        UInt64(OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS), nil)
    return (functions, nil)
}
