public import SIWACrypto

/// One header field (RFC 9110 §5).
public struct HTTPField: Hashable, Sendable {
    /// The name; compare it without regard to case.
    public let name: String
    /// The value.
    public let value: String

    /// Pairs a name with a value.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [HTTPField] {
    /// The value of the first field called `name`, whatever its case.
    public subscript(name: String) -> String? {
        first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// A request on its way to Apple.
public struct HTTPRequest: Sendable {
    /// The methods Apple's endpoints take.
    public enum Method: String, Sendable {
        /// Reads a resource.
        case get = "GET"
        /// Submits a form.
        case post = "POST"
    }

    /// The method.
    public let method: Method
    /// The absolute URL.
    public let url: String
    /// The header fields.
    public let fields: [HTTPField]
    /// The body; it may hold secrets.
    public let body: SecretBytes
    /// Whether a transport may send it a second time by itself, as HTTP allows when a
    /// kept connection turns out to be dead. A single-use code must not be.
    public let isRepeatable: Bool
    /// The secrets in the body: what an error or a trace must not repeat, should the answer.
    public let secrets: [SecretText]

    /// Composes a request.
    public init(
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
public struct HTTPResponse: Sendable {
    /// The status code.
    public let status: Int
    /// The header fields in the order they came.
    public let fields: [HTTPField]
    /// The body.
    public let body: [UInt8]

    /// Composes an answer.
    public init(status: Int, fields: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

extension HTTPResponse: CustomReflectable {
    /// Keeps `dump` and `print` from showing the body, which may hold tokens.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["status": status, "fields": fields, "body": "\(body.count) bytes"],
            displayStyle: .struct)
    }
}
