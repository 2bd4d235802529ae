/// A complete answer.
package struct HTTPResponse: Sendable {
    /// The status code.
    package let status: Int
    /// The header fields in the order received.
    package let fields: [HTTPField]
    /// The body, without a content coding.
    package let body: [UInt8]

    /// Creates a response.
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
