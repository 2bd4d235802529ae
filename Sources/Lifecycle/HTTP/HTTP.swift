package import SIWACrypto

/// One header field (RFC 9110 §5).
package struct HTTPField: Hashable, Sendable {
    /// The name; compare it without regard to case.
    package let name: String
    /// The value.
    package let value: String

    /// Pairs a name with a value.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether it is called `name`, ignoring the case of ASCII letters.
    package func isNamed(_ name: String) -> Bool {
        let (own, other) = (self.name.utf8.span, name.utf8.span)
        guard own.count == other.count else { return false }
        for index in own.indices where own[index].inLowerCase != other[index].inLowerCase {
            return false
        }
        return true
    }
}

extension UInt8 {
    /// The small letter of a capital letter of ASCII; any other byte as it is.
    fileprivate var inLowerCase: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

extension [HTTPField] {
    /// The value of the first field called `name`, ignoring case.
    package subscript(name: String) -> String? { first { $0.isNamed(name) }?.value }
}

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

/// A complete answer.
package struct HTTPResponse: Sendable {
    /// The status code.
    package let status: Int
    /// The header fields in the order they came.
    package let fields: [HTTPField]
    /// The body.
    package let body: [UInt8]

    /// Composes an answer.
    package init(status: Int, fields: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

extension HTTPResponse: CustomReflectable {
    /// Keeps `dump` and `print` from showing the body, which may hold tokens.
    package var customMirror: Mirror {
        Mirror(
            self,
            children: ["status": status, "fields": fields, "body": "\(body.count) bytes"],
            displayStyle: .struct)
    }
}
