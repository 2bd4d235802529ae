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
var openssl: siwa_openssl_functions {
    @inline(__always) get { libcrypto.functions.pointee }
}

/// The same for the shim's functions, and why the library cannot be loaded.
let (libcrypto, failure) = find()

private func find() -> (siwa_openssl, OpenSSLError?) {
    var isLoaded = false
    let library = siwa_openssl_load(&isLoaded)
    guard isLoaded else {
        let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
        return (library, OpenSSLError(reasons: ["libcrypto cannot be loaded: \(reason)"]))
    }
    // Disables OpenSSL's cleanup at exit, which would free memory that other threads still use, and
    // the loading of error messages, which few runs need. The system's openssl.cnf is read as
    // usual.
    _ = library.functions.pointee.OPENSSL_init_crypto(
        UInt64(OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS), nil)
    return (library, nil)
}
