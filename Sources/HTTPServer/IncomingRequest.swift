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

    init(method: String, target: String, on connection: Connection, _ limits: ServerLimits) {
        (self.method, self.target, self.limits) = (method, target, limits)
        fields = connection.fields
        peer = connection.client?.peer ?? .local
        fault = Self.fault(fields, limits)
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

    /// Whether it is refused without reading its body.
    var isRefused: Bool { fault != nil }

    /// Takes a part of the body. What is over the limit is read, so that the client listens to the
    /// answer, and thrown away.
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
