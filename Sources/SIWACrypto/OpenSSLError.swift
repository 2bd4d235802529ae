internal import COpenSSL

/// OpenSSL refused. Carries every reason it had queued, oldest first.
///
/// The reasons are detail for a bug report, never a headline: OpenSSL 3 calls
/// an unreadable key just "unsupported".
package struct OpenSSLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The queued reasons, as OpenSSL words them. Most of its messages are not loaded
    /// (docs/decisions/linking.md): then the command that prints the message.
    package let reasons: [String]

    /// The reasons on one line.
    package var description: String {
        reasons.isEmpty ? "OpenSSL gave no reason" : reasons.joined(separator: "; ")
    }

    /// Empties this thread's error queue into an error.
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

/// The one check of OpenSSL's "returns 1 on success" convention.
func check(_ result: @autoclosure () -> CInt) throws(OpenSSLError) {
    try OpenSSL.load()
    forgetErrors()
    guard result() == 1 else { throw .drained() }
}

/// The one check of a question: 1 is yes, anything else is no, and a no
/// leaves the error queue empty.
func holds(_ result: @autoclosure () -> CInt) -> Bool {
    if result() == 1 { return true }
    forgetErrors()
    return false
}

/// Empties this thread's error queue. It is nearly always empty: to see that costs a tenth of
/// `ERR_clear_error`.
func forgetErrors() {
    while openssl.ERR_get_error() != 0 {}
}
