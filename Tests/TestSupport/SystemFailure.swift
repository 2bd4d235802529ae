import Glibc

/// The system refused a call that a test's own machinery made.
package struct SystemFailure: Error, CustomStringConvertible {
    /// Which call, and why it failed.
    package let description: String

    init(_ call: String, code: CInt = errno) {
        description = "\(call): \(String(cString: strerror(code)))"
    }
}

/// The one funnel for "returns -1 and sets errno", repeated when a signal interrupted.
func checked<Value: FixedWidthInteger & SignedInteger>(
    _ name: String, _ call: () -> Value
) throws -> Value {
    while true {
        let result = call()
        if result != -1 { return result }
        guard errno == EINTR else { throw SystemFailure(name) }
    }
}
