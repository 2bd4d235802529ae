internal import Glibc
internal import SIWACCurl
internal import SIWALifecycle

/// The sockets of a multi handle's connections, which can be corked: the system then keeps what is
/// written until they are uncorked, and sends it in as few packets as possible (`TCP_CORK`, tcp(7)).
///
/// Over HTTP/2, libcurl writes each frame by itself. Without a cork, each is a packet, for which the
/// server is woken; sending them takes a quarter of the processor time of a batch.
///
/// Ownership: libcurl's connections borrow it; the ``CurlMulti`` to which they belong retains it.
final class CorkedSockets {
    private var sockets: [CInt] = []

    /// Has libcurl add the sockets that it opens for a transfer.
    func lend(to options: EasyOptions) throws(TransportError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        try options.set(CURLOPT_SOCKOPTDATA, lending: context)
        try options.set(CURLOPT_CLOSESOCKETDATA, lending: context)
        try options.check(
            siwa_set_socket_opened(options.library.curl, options.easy) { context, socket, _ in
                CorkedSockets.borrowed(context)?.sockets.append(socket)
                return CInt(CURL_SOCKOPT_OK)
            })
        try options.check(
            siwa_set_close_socket(options.library.curl, options.easy) { context, socket in
                CorkedSockets.borrowed(context)?.sockets.removeAll { $0 == socket }
                return close(socket)
            })
    }

    /// Runs `body`, and then sends what was written.
    func corked<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        set(1)
        defer { set(0) }
        try body()
    }

    private func set(_ isCorked: CInt) {
        var isCorked = isCorked
        let size = socklen_t(MemoryLayout<CInt>.size)
        for socket in sockets {
            setsockopt(socket, CInt(IPPROTO_TCP), TCP_CORK, &isCorked, size)
        }
    }

    private static func borrowed(_ context: UnsafeMutableRawPointer?) -> CorkedSockets? {
        context.map { Unmanaged<CorkedSockets>.fromOpaque($0).takeUnretainedValue() }
    }
}
