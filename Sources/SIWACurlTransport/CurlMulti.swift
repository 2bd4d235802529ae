internal import SIWACCurl
internal import SIWALifecycle

/// A multi handle of libcurl, which keeps connections from one request to the next.
///
/// libcurl allows one thread at a time for each handle: only the thread of a ``CurlLoop`` calls
/// these methods, except ``wake()``, which is allowed from any thread.
final class CurlMulti: @unchecked Sendable {
    private let library: CurlLibrary
    private let handle: UnsafeMutableRawPointer
    private let sockets = CorkedSockets()
    /// The number of transfers that were started since ``perform()``.
    private var added = 0

    /// - Parameter connections: the most connections to a host and in all; nil for no limit.
    init(_ library: CurlLibrary, connections: Int? = nil) throws(TransportError) {
        guard let handle = library.curl.call.curl_multi_init() else {
            throw unavailable("libcurl has no memory")
        }
        (self.library, self.handle) = (library, handle)
        guard let connections else { return }
        for option in [CURLMOPT_MAX_HOST_CONNECTIONS, CURLMOPT_MAXCONNECTS] {
            _ = siwa_set_multi(library.curl, handle, option, connections)
        }
    }

    deinit { _ = library.curl.call.curl_multi_cleanup(handle) }

    /// Ends the current ``poll(atMost:)``, or the next one.
    func wake() { _ = library.curl.call.curl_multi_wakeup(handle) }

    /// Starts a transfer.
    func add(_ transfer: Transfer) throws(TransportError) {
        added += 1
        try check(
            library.curl.call.curl_multi_add_handle(handle, transfer.easy),
            mayHaveLeft: false)
    }

    /// Has a transfer's request sent together with those that are added at the same time.
    func cork(_ transfer: Transfer) throws(TransportError) {
        try sockets.lend(to: transfer.options)
    }

    /// Ends a transfer, finished or not.
    func remove(_ transfer: Transfer) {
        _ = library.curl.call.curl_multi_remove_handle(handle, transfer.easy)
    }

    /// Continues all transfers without waiting.
    func perform() throws(TransportError) {
        let areSeveral = added > 1
        added = 0
        guard areSeveral else { return try continueAll() }
        try sockets.corked { () throws(TransportError) in try continueAll() }
    }

    private func continueAll() throws(TransportError) {
        var running: CInt = 0
        try check(library.curl.call.curl_multi_perform(handle, &running))
    }

    /// Waits for the network, for ``wake()``, or for the time to pass.
    func poll(atMost limit: Duration) throws(TransportError) {
        let milliseconds = CInt(clamping: max(limit.wholeMilliseconds, 0))
        try check(library.curl.call.curl_multi_poll(handle, nil, 0, milliseconds, nil))
    }

    /// The label of the next finished transfer, and how it ended; nil if no transfer has finished.
    func nextFinished() -> (label: Int, code: CURLcode)? {
        var left: CInt = 0
        while let message = library.curl.call.curl_multi_info_read(handle, &left) {
            guard let easy = message.pointee.easy_handle,
                let label = Transfer.label(of: easy, library)
            else { continue }
            return (label, siwa_result(message))
        }
        return nil
    }

    /// Throws an error of libcurl itself. During a transfer, the request may have been sent.
    private func check(_ code: CURLMcode, mayHaveLeft: Bool = true) throws(TransportError) {
        guard code != CURLM_OK else { return }
        let reason = library.curl.call.curl_multi_strerror(code).map { String(cString: $0) }
        throw TransportError(
            .unavailable, reason ?? "libcurl failed", requestMayHaveLeft: mayHaveLeft)
    }
}
