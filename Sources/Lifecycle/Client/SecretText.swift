internal import JOSE
package import SIWACrypto

/// A secret text: kept in memory that is overwritten, shown as a fingerprint.
package struct SecretText: Sendable, CustomStringConvertible, CustomReflectable {
    /// The text's UTF-8.
    package let bytes: SecretBytes

    /// Takes bytes over.
    package init(_ bytes: SecretBytes) { self.bytes = bytes }

    /// Copies a text; the original is the caller's care.
    package init(_ text: String) { bytes = SecretBytes(text.utf8) }

    /// The first 12 hexadecimal digits of its SHA-256: enough to recognise, not to use.
    package var fingerprint: String {
        // Only a site policy without SHA-256 fails here, and then nothing can be minted either.
        guard let digest = try? bytes.withSpan(SHA256.digest) else { return "(no SHA-256)" }
        return digest.prefix(6).hexadecimal
    }

    /// The fingerprint, never the text.
    package var description: String { "sha256:\(fingerprint)" }

    /// Keeps `dump` and `print` of what contains a secret from printing it.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The text itself, for what leaves the program.
    package func revealed() -> String { String(decoding: bytes.revealed(), as: UTF8.self) }

    /// Whether the text begins with `prefix`.
    package func hasPrefix(_ prefix: StaticString) -> Bool {
        let prefix = Array("\(prefix)".utf8)
        return bytes.withSpan { bytes in
            bytes.count >= prefix.count && prefix.indices.allSatisfy { bytes[$0] == prefix[$0] }
        }
    }
}
