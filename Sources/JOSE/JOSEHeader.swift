/// The JOSE header of a token (RFC 7515 §4): one object for all tokens that have it.
package final class JOSEHeader: Sendable {
    /// The header as received.
    let text: JSONText
    /// The header as a value.
    package let value: JSON
    /// `alg`; nil unless it is a string.
    package let algorithm: String?
    /// `kid`; nil unless it is a string.
    package let keyID: String?
    /// Whether it requires extensions (`crit`).
    package let isCritical: Bool

    init(_ text: JSONText) {
        let value = text.value
        (self.text, self.value) = (text, value)
        (algorithm, keyID) = (value["alg"]?.string, value["kid"]?.string)
        isCritical = value["crit"] != nil
    }
}
