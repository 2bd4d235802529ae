internal import SIWACMicroHTTPD

/// The callbacks that libmicrohttpd calls for `loop`, which must live until the daemon has stopped.
func callbacks(for loop: EventLoop) -> siwa_callbacks {
    siwa_callbacks(
        connection: { loop, connection, context, change in
            guard let loop, let connection, let context else { return }
            Unmanaged<EventLoop>.fromOpaque(loop).takeUnretainedValue()
                .note(change, of: Connection(connection), context)
        },
        begun: { loop, target, connection in
            guard let loop, let target, let connection else { return nil }
            let exchange = Unmanaged<EventLoop>.fromOpaque(loop).takeUnretainedValue()
                .begin(target, on: Connection(connection))
            return Unmanaged.passRetained(exchange).toOpaque()
        },
        step: { _, connection, _, method, version, upload, uploadSize, request in
            guard let connection, let method, let uploadSize, let request = request?.pointee
            else { return .NO }
            let bytes = UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
            // All received bytes are consumed.
            uploadSize.pointee = 0
            return Unmanaged<Exchange>.fromOpaque(request).takeUnretainedValue()
                .step(
                    on: Connection(connection), method: method, version: version,
                    receiving: bytes)
        },
        ended: { _, connection, request, _ in
            guard let pointer = request?.pointee else { return }
            connection.map { Connection($0).client?.awaitRequest() }
            Unmanaged<Exchange>.fromOpaque(pointer).release()
            request?.pointee = nil
        },
        context: Unmanaged.passUnretained(loop).toOpaque())
}
