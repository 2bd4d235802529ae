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
var arithmetic: siwa_openssl_arithmetic_functions {
    @inline(__always) get { library.functions.pointee }
}

private let (library, missing) = find()

private func find() -> (siwa_openssl_arithmetic, OpenSSLError?) {
    var isLoaded = false
    let library = siwa_openssl_arithmetic_load(&isLoaded)
    guard isLoaded else {
        let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
        return (library, OpenSSLError(reasons: ["libcrypto lacks a function: \(reason)"]))
    }
    return (library, nil)
}
