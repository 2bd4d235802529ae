import SIWALifecycle

/// Limits the number of requests in flight; others wait for a limited time.
final class LimitedTransport: Transport {
    private let base: any Transport
    private let slots: RequestSlots

    /// - Parameter slots: may be shared with other transports.
    init(_ base: any Transport, _ slots: RequestSlots) {
        (self.base, self.slots) = (base, slots)
    }

    /// Sends a request when a slot is free.
    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        guard await slots.acquire() else {
            throw TransportError(
                .resources, "too many requests are in flight",
                requestMayHaveLeft: false)
        }
        defer { slots.release() }
        return try await base.send(request, timeout: timeout)
    }
}
