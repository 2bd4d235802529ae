internal import SIWACMicroHTTPD
internal import SIWALifecycle

/// A response of libmicrohttpd with one owner; libmicrohttpd keeps a queued one until it is sent.
struct OwnedResponse: ~Copyable {
    let pointer: OpaquePointer

    /// Copies a response; nil if memory is exhausted, and for a streamed body.
    init?(_ response: ServerResponse) {
        let pointer =
            switch response.body {
            case .bytes(let body): Self.whole(body)
            case .broken(let part, let length): Self.broken(part, announcing: length)
            case .stream, .dropped: OpaquePointer?.none
            }
        guard let pointer else { return nil }
        self.init(pointer, response.fields)
    }

    /// A response with a streamed body.
    init?(_ response: ServerResponse, writing body: BodyWriter) {
        guard let pointer = Self.stream(body) else { return nil }
        self.init(pointer, response.fields)
    }

    private init(_ pointer: OpaquePointer, _ fields: [HTTPField]) {
        self.pointer = pointer
        for field in fields {
            // Lent, because passing a short text to C allocates a copy of it.
            field.name.withCString { name in
                field.value.withCString { value in
                    // libmicrohttpd refuses fields that it writes itself, such as Content-Length,
                    // so none is sent twice.
                    _ = MHD_add_response_header(pointer, name, value)
                }
            }
        }
    }

    deinit { MHD_destroy_response(pointer) }

    private static func stream(_ body: BodyWriter) -> OpaquePointer? {
        let retained = Unmanaged.passRetained(body)
        let response = MHD_create_response_from_callback(
            siwa_size_unknown(), 16_384,
            { context, _, buffer, room in
                guard let context, let buffer else { return siwa_content_broken() }
                return Unmanaged<BodyWriter>.fromOpaque(context).takeUnretainedValue()
                    .read(into: buffer, room: room)
            }, retained.toOpaque(),
            { context in
                guard let context else { return }
                let body = Unmanaged<BodyWriter>.fromOpaque(context)
                body.takeUnretainedValue().close()
                body.release()
            })
        if response == nil { retained.release() }
        return response
    }

    private static func whole(_ body: [UInt8]) -> OpaquePointer? {
        body.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                .RESPMEM_MUST_COPY)
        }
    }

    /// Announces a body, sends only a part of it and breaks the connection.
    private static func broken(_ bytes: [UInt8], announcing length: Int) -> OpaquePointer? {
        let part = Unmanaged.passRetained(PartialBody(bytes))
        let response = MHD_create_response_from_callback(
            UInt64(max(length, 1)), 4096,
            { context, position, buffer, room in
                guard let context, let buffer else { return siwa_content_broken() }
                return Unmanaged<PartialBody>.fromOpaque(context).takeUnretainedValue()
                    .copy(from: Int(position), to: buffer, room: room)
            }, part.toOpaque(),
            // libmicrohttpd calls this once, when the response itself is freed.
            { context in context.map { Unmanaged<PartialBody>.fromOpaque($0).release() } })
        if response == nil { part.release() }
        return response
    }
}

/// The part of a body that arrives before the connection breaks.
private final class PartialBody: Sendable {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func copy(from position: Int, to buffer: UnsafeMutablePointer<CChar>, room: Int) -> Int {
        let part = bytes.dropFirst(position).prefix(room)
        guard !part.isEmpty else { return siwa_content_broken() }
        for (index, byte) in part.enumerated() { buffer[index] = CChar(bitPattern: byte) }
        return part.count
    }
}
