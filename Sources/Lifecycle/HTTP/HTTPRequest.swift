package import SIWACrypto

/// A request on its way to Apple.
package struct HTTPRequest: Sendable {
    /// The methods Apple's endpoints take.
    package enum Method: String, Sendable {
        /// Reads a resource.
        case get = "GET"
        /// Submits a form.
        case post = "POST"
    }

    /// The method.
    package let method: Method
    /// The absolute URL.
    package let url: String
    /// The header fields.
    package let fields: [HTTPField]
    /// The body; it may hold secrets.
    package let body: SecretBytes
    /// Whether a transport may send it a second time by itself, as HTTP allows when a
    /// kept connection turns out to be dead. A single-use code must not be.
    package let isRepeatable: Bool
    /// The secrets in the body: what an error or a trace must not repeat, should the answer.
    package let secrets: [SecretText]

    /// Composes a request.
    package init(
        method: Method, url: String, fields: [HTTPField] = [], body: SecretBytes = SecretBytes([]),
        isRepeatable: Bool = true, secrets: [SecretText] = []
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.isRepeatable = isRepeatable
        self.secrets = secrets
    }
}
