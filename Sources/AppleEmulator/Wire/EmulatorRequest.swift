public import SignInWithApple

/// A request as it reached the emulator, from a socket or from a test.
public struct EmulatorRequest: Sendable {
    /// The method as it stands on the wire: any text, because any client may send it.
    public let method: String
    /// `https` or `http`: the discovery document names the endpoints as they were reached.
    public let scheme: String
    /// Path and query, not decoded.
    public let target: String
    /// The header fields in the order they came.
    public let fields: [HTTPField]
    /// The body, up to one byte over ``bodyLimit``.
    public let body: [UInt8]

    /// The largest body that is looked at. A server need not collect more than one byte over it.
    public static let bodyLimit = 1 << 20

    /// Composes a request.
    public init(
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

    /// What stands behind the path; empty when nothing does.
    var query: String { String(target.dropFirst(path.count + 1)) }

    /// Where the client believes it is; HTTP/1.0 need not say.
    var origin: String { "\(scheme)://\(fields["host"] ?? "appleid.apple.com")" }
}
