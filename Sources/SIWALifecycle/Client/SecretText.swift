package import SIWACrypto
package import SIWAJOSE

/// A secret text: kept in memory that is overwritten, shown as a fingerprint.
package struct SecretText: Sendable, CustomStringConvertible, CustomReflectable {
    /// The text's UTF-8.
    package let bytes: SecretBytes

    /// Wraps bytes.
    package init(_ bytes: SecretBytes) { self.bytes = bytes }

    /// Copies a text; the original remains in memory.
    package init(_ text: String) { bytes = SecretBytes(text.utf8) }

    /// The first 12 hexadecimal digits of its SHA-256, which identify the text without revealing
    /// it.
    package var fingerprint: String {
        // Fails only if the system's policy disables SHA-256; then nothing can be minted either.
        guard let hash = try? bytes.withSpan(SHA256.hash) else { return "(no SHA-256)" }
        return Self.fingerprint(ofHash: hash.span)
    }

    /// The fingerprint of a text with this SHA-256.
    static func fingerprint(ofHash hash: Span<UInt8>) -> String {
        hash.extracting(first: 6).hexadecimal
    }

    /// The fingerprint, never the text.
    package var description: String { "sha256:\(fingerprint)" }

    /// Keeps `dump` and `print` of what contains a secret from printing it.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The text itself, to send or print it.
    package func revealed() -> String { String(decoding: bytes.revealed(), as: UTF8.self) }

    /// Whether the text begins with `prefix`.
    package func hasPrefix(_ prefix: StaticString) -> Bool {
        bytes.withSpan { $0.extracting(first: prefix.utf8CodeUnitCount).isExactly(prefix) }
    }
}

extension CompactJWS {
    /// ``SecretText/fingerprint`` of the token; nil unless its reader computes ``hashes``.
    package var fingerprint: String? {
        guard let hash = hashes?.whole else { return nil }
        return SecretText.fingerprint(ofHash: hash.span)
    }
}
