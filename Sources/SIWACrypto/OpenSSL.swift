internal import COpenSSL
internal import Glibc

/// OpenSSL's libcrypto, loaded when it is first used (docs/decisions/linking.md).
public enum OpenSSL {
    /// Loads it, if nothing has yet. All of this module does so by itself; who asks first can
    /// tell a library that is missing from a key that is bad.
    ///
    /// - Throws: ``OpenSSLError`` when it is missing or older than OpenSSL 3.
    public static func load() throws(OpenSSLError) {
        if let failure { throw failure }
    }
}

/// The library's functions. All are null when it cannot be loaded; they are called on objects
/// made by the funnels, `check` and ``Owned``, and inside those: both refuse to go on.
let (openssl, failure) = find()

private func find() -> (siwa_openssl, OpenSSLError?) {
    var functions = siwa_openssl()
    if siwa_openssl_load(&functions) { return (functions, nil) }
    let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
    return (siwa_openssl(), OpenSSLError(reasons: ["libcrypto cannot be loaded: \(reason)"]))
}
