/// The JOSE header of a token (RFC 7515 §4): one object for all tokens that have it.
package final class JOSEHeader: Sendable {
    /// The header as received.
    let text: JSONText
    /// The header as a value.
    package let value: JSON
    /// Whether `alg` is RS256.
    package let isRS256: Bool
    /// `kid`; nil unless it is a string.
    package let keyID: String?
    /// Whether it requires extensions (`crit`).
    package let isCritical: Bool

    init(_ text: JSONText) {
        let value = text.value
        (self.text, self.value) = (text, value)
        isRS256 = value["alg"]?.string?.isExactly("RS256") == true
        keyID = value["kid"]?.string
        isCritical = value["crit"] != nil
    }
}
