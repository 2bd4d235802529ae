internal import Lifecycle

/// A request while it is being received.
struct IncomingRequest {
    /// The request without its body.
    private let head: ServerRequest
    private let limits: ServerLimits
    private var body: [UInt8] = []
    private var received = 0
    private var isTooLong = false

    /// - Parameter isMalformed: whether the request line has a NUL or bad UTF-8 in it.
    init(
        method: String, target: String, isMalformed: Bool, on connection: Connection,
        _ limits: ServerLimits
    ) {
        self.limits = limits
        let fields = connection.fields
        let isWord = method.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        head = ServerRequest(
            method: method, target: target, fields: fields,
            fault: isMalformed || !isWord ? .malformedRequestLine : Self.fault(fields, limits),
            peer: connection.client?.peer ?? .local)
    }

    private static func fault(
        _ fields: [HTTPField], _ limits: ServerLimits
    ) -> ServerRequest.Fault? {
        var (lengths, codings, header) = (0, 0, 0)
        for field in fields {
            if field.isNamed("content-length") { lengths += 1 }
            if field.isNamed("transfer-encoding") { codings += 1 }
            // The separators are ": " and a line end.
            header += field.name.utf8.count + field.value.utf8.count + 4
        }
        if lengths + codings > 1 { return .ambiguousLength }
        if header > limits.headerBytes { return .headerTooLarge }
        let length = lengths == 1 ? fields["content-length"].flatMap { Int($0) } : nil
        return length.map { $0 > limits.readBytes } ?? false ? .bodyTooLarge : nil
    }

    /// Whether the request is refused without reading its body.
    var isRefused: Bool { head.fault != nil }

    /// Takes a part of the body. Bytes over the limit are read, so that the client gets to read the
    /// response, and discarded.
    ///
    /// - Returns: false if the body is so long that the connection must be closed.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        received += bytes.count
        body.append(contentsOf: bytes.prefix(limits.bodyBytes - body.count))
        if received > limits.bodyBytes { isTooLong = true }
        return received <= limits.readBytes
    }

    /// The request, as far as it was received.
    var whole: ServerRequest {
        guard received > 0 else { return head }
        return ServerRequest(
            method: head.method, target: head.target, fields: head.fields, body: body,
            fault: isTooLong ? .bodyTooLarge : head.fault, peer: head.peer)
    }
}
