package import SIWACrypto

/// A request to Apple.
package struct HTTPRequest: Sendable {
    /// The methods of Apple's endpoints.
    package enum Method: String, Sendable {
        /// Reads a resource.
        case get = "GET"
        /// Submits a form.
        case post = "POST"
    }

    /// GET or POST.
    package let method: Method
    /// The absolute URL.
    package let url: String
    /// The header fields.
    package let fields: [HTTPField]
    /// The body; it may contain secrets.
    package let body: SecretBytes
    /// Whether a transport may resend it by itself, as HTTP allows if a reused connection turns out
    /// to be closed. A single-use code must not be resent.
    package let isRepeatable: Bool
    /// The secrets in the body: if the answer repeats them, errors and traces must not.
    package let secrets: [SecretText]

    /// Creates a request.
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
