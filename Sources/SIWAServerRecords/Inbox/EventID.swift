internal import SIWACrypto
internal import SIWAJOSE
package import SIWALifecycle
internal import SIWAVaultRecords

/// The id of an event in the inbox: the `jti` of its notification, which is also the
/// `webhook-id` of its deliveries.
package struct EventID: Hashable, Sendable, CustomStringConvertible {
    /// 1 to 255 visible ASCII characters.
    package let rawValue: String

    /// Accepts 1 to 255 visible ASCII characters, which a header field can hold; nil for any other
    /// text.
    package init?(_ text: String) {
        let bytes = text.utf8.span
        guard (1...255).contains(bytes.count) else { return nil }
        for index in bytes.indices where !(0x21...0x7E).contains(bytes[index]) { return nil }
        rawValue = text
    }

    /// The `jti` of a notification; the SHA-256 of its payload if the `jti` is missing or cannot be
    /// a header field.
    package init(
        jti: String?, payload: @autoclosure () -> [UInt8]
    ) throws(StoreError) {
        if let id = jti.flatMap({ Self($0) }), !id.isUnverified {
            self = id
        } else {
            self.init(unchecked: "sha256-" + (try Self.digest(payload())))
        }
    }

    /// Identifies a payload whose signature is not verified yet. No verified event has such an id,
    /// so that a forged payload cannot occupy the `jti` of a genuine event.
    package init(unverified payload: [UInt8]) throws(StoreError) {
        self.init(unchecked: Self.unverifiedPrefix + (try Self.digest(payload)))
    }

    private init(unchecked rawValue: String) { self.rawValue = rawValue }

    private var isUnverified: Bool { rawValue.hasPrefix(Self.unverifiedPrefix) }

    private static let unverifiedPrefix = "unverified-"

    private static func digest(_ payload: [UInt8]) throws(StoreError) -> String {
        do {
            return try SHA256.digest(payload.span).hexadecimal
        } catch {
            throw StoreError(.key, "OpenSSL provides no SHA-256: \(error)")
        }
    }

    /// ``rawValue``.
    package var description: String { rawValue }
}
