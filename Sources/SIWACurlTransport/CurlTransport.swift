internal import Dispatch
internal import Glibc
internal import SIWACCurl
package import SIWALifecycle

/// Carries requests over libcurl: TLS 1.2 or newer, certificate and host always checked,
/// redirects not followed, responses bounded, the usual proxy variables honoured.
///
/// Many requests may be in flight; they share connections. libcurl is loaded when the first
/// transport is created.
package final class CurlTransport: FeedTransport {
    private let library: CurlLibrary
    private let authorities: Authorities
    private let policy: TransferPolicy
    private let requests = SingleRequests()
    private let multi: CurlMulti
    /// The queue on which the loop of single requests runs; every other feed has a thread of its
    /// own.
    private let queue = DispatchQueue(label: "siwa.curl", qos: .userInitiated)

    /// Loads libcurl.
    ///
    /// - Parameters:
    ///   - authorityFile: certificates to trust besides the system's.
    ///   - variables: the environment; curl's variables choose the system's authorities.
    ///   - policy: what holds for all requests.
    /// - Throws: ``TransportError`` when libcurl is missing, too old, or a file is unreadable.
    package init(
        authorityFile: String? = nil, variables: (String) -> String? = { _ in nil },
        policy: TransferPolicy = TransferPolicy()
    ) throws(TransportError) {
        self.policy = TransferPolicy(
            usesProxies: policy.usesProxies && Self.environmentNamesProxy, answer: policy.answer,
            method: policy.method)
        library = try CurlLibrary.shared.get()
        multi = try CurlMulti(library)
        authorities = try Authorities(adding: authorityFile, variables: variables, library)
    }

    /// Whether libcurl would find a proxy. It looks for one before each request, which a batch can
    /// save itself.
    private static var environmentNamesProxy: Bool {
        let names: [String] = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        return names.contains { getenv($0) != nil }
    }

    /// Sends `request` once; see ``Transport``.
    package func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        guard timeout > .zero else {
            throw TransportError(.timeout, "no time is left", requestMayHaveLeft: false)
        }
        let id = requests.newID()
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { reply in
                let isIdle = requests.add(id, request, timeout: timeout, reply)
                // The cancellation handler may have run before the request was added.
                if Task.isCancelled { requests.cancel(id) }
                if isIdle { carrySingleRequests() }
            }
        } onCancel: {
            requests.cancel(id)
        }.get()
    }

    /// Sends the added requests until none is left.
    private func carrySingleRequests() {
        queue.async { [requests, multi, authorities, library, policy] in
            do throws(TransportError) {
                let transfers = SlottedTransfers(
                    over: multi, .http1, trusting: authorities, library, policy: policy)
                var loop = CurlLoop(requests.feed, over: transfers, timekeeper: .system)
                try loop.run(wake: requests.wake, cancelled: requests.takeCancelled)
            } catch {
                requests.fail(error)
            }
        }
    }

    /// Carries a whole feed on a thread of its own; see ``FeedTransport``.
    package func carry<Feed: RequestFeed>(
        _ feed: Feed, width: Int, wake: WakeSignal, timekeeper: Timekeeper
    ) async throws(TransportError) -> Feed {
        // One connection for every hundred streams. A server without HTTP/2 gets more, and
        // requests that have to fall back to HTTP/1.1 need one besides the streams'.
        let connections = max((width + 99) / 100, min(width, 16)) + 1
        return try await withCheckedContinuation { continuation in
            DispatchQueue(label: "siwa.feed", qos: .userInitiated).async {
                [authorities, library, policy] in
                let result = Result { () throws(TransportError) in
                    let transfers = SlottedTransfers(
                        over: try CurlMulti(library, connections: connections), .http2,
                        trusting: authorities, library, policy: policy)
                    var loop = CurlLoop(feed, over: transfers, timekeeper: timekeeper)
                    try loop.run(wake: wake)
                    return loop.feed
                }
                continuation.resume(returning: result)
            }
        }.get()
    }
}
