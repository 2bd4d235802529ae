/// base64 with `+`, `/` and padding (RFC 4648 §4), as in PEM.
package enum Base64 {
    /// The text of `bytes`.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        padded(unpadded(bytes))
    }

    package static func unpadded(_ bytes: some Collection<UInt8>) -> String {
        String(Base64URL.encode(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    }

    /// The text padded with `=` to a multiple of four characters.
    package static func padded(_ text: String) -> String {
        text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}
