internal import SIWACOpenSSL

/// An error of OpenSSL, with all queued reasons, the oldest first.
///
/// The reasons are details for a bug report: OpenSSL 3 calls an unreadable key just "unsupported".
package struct OpenSSLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The queued reasons in OpenSSL's words. If the message is not loaded
    /// (docs/decisions/linking.md), the command that prints it.
    package let reasons: [String]

    /// The reasons on one line.
    package var description: String {
        reasons.isEmpty ? "OpenSSL gave no reason" : reasons.joined(separator: "; ")
    }

    /// Creates an error from this thread's error queue, and empties the queue.
    static func drained() -> Self {
        var reasons: [String] = []
        while true {
            let code = openssl.ERR_get_error()
            guard code != 0 else { return Self(reasons: reasons) }
            reasons.append(
                openssl.ERR_reason_error_string(code).map { String(cString: $0) }
                    ?? "see 'openssl errstr \(String(code, radix: 16, uppercase: true))'")
        }
    }
}

/// Throws unless an OpenSSL function returned 1.
func check(_ result: @autoclosure () -> CInt) throws(OpenSSLError) {
    try OpenSSL.load()
    forgetErrors()
    guard result() == 1 else { throw .drained() }
}

/// Whether an OpenSSL function returned 1; otherwise empties the error queue.
func holds(_ result: @autoclosure () -> CInt) -> Bool {
    if result() == 1 { return true }
    forgetErrors()
    return false
}

/// Empties this thread's error queue. It is nearly always empty, which is checked first because
/// that takes a tenth of the time of `ERR_clear_error`.
func forgetErrors() {
    while openssl.ERR_get_error() != 0 {}
}
