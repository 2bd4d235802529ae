package import SIWAJOSE

/// Which requests a failure affects: the same rule for a single command and for a batch.
package enum FailureScope: Hashable, Sendable {
    /// The same request may succeed later.
    case passing
    /// The same request will fail again; others may succeed.
    case request
    /// Every request of this client fails in the same way.
    case client
}

extension TokenFailure.Cause {
    /// Which requests the failure affects.
    package var scope: FailureScope {
        switch self {
        case .refused(let error): error.code.concernsClient ? .client : .request
        case .unminted(let error): error.mayPass ? .passing : .client
        case .unusable(let response): response.isPassingTrouble ? .passing : .request
        case .unreachable(let error): error.scope
        }
    }

    /// Whether the server is overloaded (RFC 6585 §4, RFC 9110 §15.6.4).
    var isOverload: Bool {
        if case .unusable(let response) = self {
            [429, 503].contains(response.status)
        } else {
            false
        }
    }

    /// Whether there was no client_secret. A signer was asked again as long as there was time.
    var isUnminted: Bool { if case .unminted = self { true } else { false } }

    /// Whether this process ended the request: it was cancelled, or its time was over.
    var wasGivenUp: Bool {
        if case .unreachable(let error) = self {
            [.cancelled, .timeout].contains(error.kind)
        } else {
            false
        }
    }

    /// Whether the server certainly did not receive the request.
    var certainlyNeverLeft: Bool {
        if case .unreachable(let error) = self { !error.requestMayHaveLeft } else { false }
    }

    /// Whether the server may have acted on the request. 429 and 503 say that it did not, and a 3xx
    /// or 4xx refuses the request as a whole; with any other status, a gateway may have received
    /// Apple's response and lost it.
    var mayHaveTakenEffect: Bool {
        switch self {
        case .refused, .unminted: false
        case .unusable(let response):
            !(300..<500).contains(response.status) && response.status != 503
        case .unreachable(let error): error.requestMayHaveLeft
        }
    }

    /// How long the server asks to wait; nil if it does not.
    package func retryAfter(at now: NumericDate) -> Duration? {
        if case .unusable(let response) = self { response.retryAfter(at: now) } else { nil }
    }
}

extension TokenFailure.Cause: Error {}

extension HTTPResponse {
    /// Whether a response that is not Apple's has a temporary cause: an outage, a rate limit, a
    /// captive portal.
    fileprivate var isPassingTrouble: Bool {
        (200..<300).contains(status) || status >= 500 || [408, 425, 429].contains(status)
    }
}

extension TransportError {
    /// Which requests the error affects.
    package var scope: FailureScope {
        switch kind {
        case .nameLookup, .connect, .tls, .proxy, .timeout, .cut, .malformed: .passing
        case .tooLarge: .request
        case .certificate, .cancelled, .authorities, .resources, .unavailable: .client
        }
    }
}

extension AppleError.Code {
    /// Whether every request of the client would get this response.
    var concernsClient: Bool {
        [.invalidClient, .unauthorizedClient, .unsupportedGrantType, .invalidScope].contains(self)
    }
}
