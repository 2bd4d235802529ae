internal import Glibc

/// The name of this machine, for the history of a vault; "unknown" if it cannot be determined.
package func hostName() -> String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "unknown" }
    let name = bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return name.isEmpty ? "unknown" : String(decoding: name, as: UTF8.self)
}
