internal import CMicroHTTPD

/// What libmicrohttpd calls for `context`, which must live until the daemon has stopped.
func callbacks(for context: RequestContext) -> siwa_callbacks {
    siwa_callbacks(
        begun: { context, target, _ in
            guard let context, let target else { return nil }
            let exchange = Exchange(
                target: String(cString: target),
                in: Unmanaged<RequestContext>.fromOpaque(context).takeUnretainedValue())
            return Unmanaged.passRetained(exchange).toOpaque()
        },
        step: { context, connection, _, method, _, upload, uploadSize, request in
            guard let context, let connection, let method, let uploadSize,
                let request = request?.pointee
            else { return .NO }
            let bytes = UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
            // Everything that came is taken.
            uploadSize.pointee = 0
            return Unmanaged<RequestContext>.fromOpaque(context).takeUnretainedValue().step(
                Unmanaged<Exchange>.fromOpaque(request).takeUnretainedValue(),
                on: Connection(connection), method: String(cString: method), receiving: bytes)
        },
        ended: { _, _, request, _ in
            guard let pointer = request?.pointee else { return }
            Unmanaged<Exchange>.fromOpaque(pointer).release()
            request?.pointee = nil
        },
        context: Unmanaged.passUnretained(context).toOpaque())
}
