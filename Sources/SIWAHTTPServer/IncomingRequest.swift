internal import SIWAJOSE
internal import SIWALifecycle

/// A request while it is being received. An object, because copying a structure would count a
/// reference to each of its parts. Only the event loop's thread uses it.
final class IncomingRequest: @unchecked Sendable {
    private let method: String
    private let target: String
    private let fields: [HTTPField]
    private let fault: ServerRequest.Fault?
    private let peer: ServerRequest.Peer
    private let limits: ServerLimits
    private var body: [UInt8] = []
    private var received = 0
    private var isTooLong = false

    /// - Parameters:
    ///   - isMalformed: whether the request line contains a NUL or invalid UTF-8.
    ///   - needsHost: whether the version of HTTP requires `Host`.
    init(
        method: String, target: String, isMalformed: Bool, needsHost: Bool,
        on connection: Connection, _ limits: ServerLimits
    ) {
        self.limits = limits
        let (fields, hasNUL) = connection.fields
        (self.method, self.target, self.fields) = (method, target, fields)
        let isWord = method.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        fault =
            isMalformed || !isWord
            ? .malformedRequestLine
            : hasNUL || !fields.allSatisfy(\.isWellFormed)
                ? .malformedField : Self.fault(fields, needsHost: needsHost, limits)
        peer = connection.client?.peer ?? .local
    }

    private static func fault(
        _ fields: [HTTPField], needsHost: Bool, _ limits: ServerLimits
    ) -> ServerRequest.Fault? {
        let all = fields.span
        var (hosts, lengths, codings, header) = (0, 0, 0, 0)
        var (length, coding): (Int?, Int?)
        for index in all.indices {
            if all[index].isNamed("host") {
                hosts += 1
            } else if all[index].isNamed("content-length") {
                (lengths, length) = (lengths + 1, index)
            } else if all[index].isNamed("transfer-encoding") {
                (codings, coding) = (codings + 1, index)
            }
            // The separators are ": " and a line end.
            header += all[index].name.utf8.count + all[index].value.utf8.count + 4
        }
        if lengths + codings > 1 { return .ambiguousLength }
        if let coding, all[coding].value.lowercased() != "chunked" { return .unknownCoding }
        if header > limits.headerBytes { return .headerTooLarge }
        if hosts > 1 || needsHost && hosts == 0 { return .ambiguousHost }
        guard let length, all[length].value.utf8.allSatisfy({ $0.isDigit }) else { return nil }
        return Int(all[length].value) ?? .max > limits.readBytes ? .bodyTooLarge : nil
    }

    /// Whether the request is refused without reading its body.
    var isRefused: Bool { fault != nil }

    /// How much of the body was received.
    enum Progress {
        /// More of it may be received.
        case incomplete
        /// It is longer than allowed, and its length is unknown.
        case tooLong
        /// It is so long that the connection must be closed.
        case endless
    }

    /// Takes a part of the body. Bytes over the limit are read and discarded, so that the client
    /// can read the response.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Progress {
        received += bytes.count
        body.append(contentsOf: bytes.prefix(limits.bodyBytes - body.count))
        guard received > limits.bodyBytes else { return .incomplete }
        isTooLong = true
        guard fields["content-length"] == nil else { return .incomplete }
        return received > max(limits.readBytes, limits.encryptedBytes) ? .endless : .tooLong
    }

    /// The request, as far as it was received.
    var whole: ServerRequest {
        ServerRequest(
            method: method, target: target, fields: fields, body: body,
            fault: isTooLong ? .bodyTooLarge : fault, peer: peer)
    }
}

extension HTTPField {
    /// Whether the name is a token, and the value has no control character.
    fileprivate var isWellFormed: Bool {
        let (name, value) = (name.utf8.span, value.utf8.span)
        for index in name.indices where !name[index].isTokenCharacter { return false }
        for index in value.indices where value[index] < 0x20 || value[index] == 0x7F {
            guard value[index] == 0x09 else { return false }
        }
        return !name.isEmpty
    }
}

extension UInt8 {
    /// Whether a token may contain it (RFC 9110 §5.6.2).
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x5E...0x7A, 0x7C, 0x7E: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E: true
        default: false
        }
    }
}
