internal import Lifecycle

/// A request while it is being received.
struct IncomingRequest {
    private let method: String
    private let target: String
    private let fields: [HTTPField]
    private let peer: ServerRequest.Peer
    private let limits: ServerLimits
    private var body: [UInt8] = []
    private var received = 0
    private var fault: ServerRequest.Fault?

    /// - Parameter isMalformed: whether the request line has a NUL or bad UTF-8 in it.
    init(
        method: String, target: String, isMalformed: Bool, on connection: Connection,
        _ limits: ServerLimits
    ) {
        (self.method, self.target, self.limits) = (method, target, limits)
        fields = connection.fields
        peer = connection.client?.peer ?? .local
        fault =
            isMalformed || !method.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            ? .malformedRequestLine : Self.fault(fields, limits)
    }

    private static func fault(
        _ fields: [HTTPField], _ limits: ServerLimits
    ) -> ServerRequest.Fault? {
        let lengths = fields.count { $0.isNamed("content-length") }
        let codings = fields.count { $0.isNamed("transfer-encoding") }
        if lengths > 1 || codings > 1 || lengths + codings > 1 { return .ambiguousLength }
        // The separators are ": " and a line end.
        let header = fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        if header > limits.headerBytes { return .headerTooLarge }
        let length = lengths == 1 ? fields["content-length"].flatMap { Int($0) } : nil
        return length.map { $0 > limits.readBytes } ?? false ? .bodyTooLarge : nil
    }

    /// Whether the request is refused without reading its body.
    var isRefused: Bool { fault != nil }

    /// Takes a part of the body. Bytes over the limit are read, so that the client gets to read the
    /// response, and discarded.
    ///
    /// - Returns: false if the body is so long that the connection must be closed.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        received += bytes.count
        body.append(contentsOf: bytes.prefix(limits.bodyBytes - body.count))
        if received > limits.bodyBytes { fault = .bodyTooLarge }
        return received <= limits.readBytes
    }

    /// The request, as far as it was received.
    var whole: ServerRequest {
        ServerRequest(
            method: method, target: target, fields: fields, body: body, fault: fault, peer: peer)
    }
}
