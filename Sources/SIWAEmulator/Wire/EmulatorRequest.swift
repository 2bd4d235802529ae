package import SIWALifecycle

/// A request as it reached the emulator, from a socket or from a test.
package struct EmulatorRequest: Sendable {
    /// The method as it was sent: any text.
    package let method: String
    /// `https` or `http`: the discovery document names the endpoints as they were reached.
    package let scheme: String
    /// Path and query, not decoded.
    package let target: String
    /// The header fields in the order received.
    package let fields: [HTTPField]
    /// The body, up to one byte over ``bodyLimit``.
    package let body: [UInt8]

    /// The largest body that is read. A server need not collect more than one byte over it.
    package static let bodyLimit = 1 << 20

    /// Composes a request.
    package init(
        method: String, scheme: String = "https", target: String, fields: [HTTPField] = [],
        body: [UInt8] = []
    ) {
        self.method = method
        self.scheme = scheme
        self.target = target
        self.fields = fields
        self.body = body
    }

    /// The target without its query.
    var path: String { String(target.prefix { $0 != "?" }) }

    /// The query; empty if the target has no query.
    var query: String { String(target.dropFirst(path.count + 1)) }

    /// The origin by the `Host` field, which HTTP/1.0 may omit.
    var origin: String { "\(scheme)://\(fields["host"] ?? "appleid.apple.com")" }
}
