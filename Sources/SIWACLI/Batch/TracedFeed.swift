internal import SIWACrypto
internal import SignInWithApple

/// Tells of each request of a feed and of its answer, for `-v`.
struct TracedFeed<Base: RequestFeed>: RequestFeed {
    private(set) var base: Base
    private let trace: @Sendable (TraceEvent) -> Void
    /// The requests in flight by their slots, and when they started.
    private var sent: [Int: (request: HTTPRequest, at: Duration)] = [:]

    init(_ base: Base, trace: @escaping @Sendable (TraceEvent) -> Void) {
        (self.base, self.trace) = (base, trace)
    }

    mutating func next(at now: Duration) -> FeedStep {
        let step = base.next(at: now)
        if case .send(let request, let slot, _) = step {
            sent[slot] = (request, now)
            trace(.sending(request, parameterNames: request.parameterNames, attempt: 1))
        }
        return step
    }

    mutating func take(
        _ result: Result<HTTPResponse, TransportError>, for slot: Int, at now: Duration
    ) {
        if let (request, start) = sent.removeValue(forKey: slot) {
            switch result {
            case .success(let response):
                trace(.answered(response.redacting(request.secrets), after: now - start))
            case .failure(let error): trace(.failed(error, after: now - start))
            }
        }
        base.take(result, for: slot, at: now)
    }
}

extension HTTPRequest {
    /// The names in its form.
    fileprivate var parameterNames: [String] {
        body.withSpan { bytes in
            var names: [String] = []
            var name: [UInt8]? = []
            for index in bytes.indices {
                switch bytes[index] {
                case UInt8(ascii: "&"): name = []
                case UInt8(ascii: "="):
                    if let name { names.append(String(decoding: name, as: UTF8.self)) }
                    name = nil
                case let byte: name?.append(byte)
                }
            }
            return names
        }
    }
}
