internal import SIWACrypto
package import SIWALifecycle

/// Sends requests to Apple: libcurl (`CurlTransport`), an emulator, or your own HTTP client.
///
/// ```swift
/// struct MyTransport: Transport {
///     func send(_ request: TransportRequest) async throws -> TransportResponse {
///         let answer = try await http.execute(request.method, request.url, request.headers,
///                                             request.body, timeout: request.timeout)
///         return TransportResponse(status: answer.status, headers: answer.headers, body: answer.body)
///     }
/// }
/// ```
///
/// `TransportChecks` of `SignInWithAppleEmulator` tests what a transport must do.
public protocol Transport: Sendable {
    /// Sends a request once and returns the whole response, with any status.
    ///
    /// A transport must
    /// - send the method, the header fields and the body as they are, without a cookie of an earlier
    ///   response;
    /// - return every response: a 400 and a 503 are answers, not errors;
    /// - not repeat a request, on a new connection either: an authorization code works once;
    /// - not follow a redirect, which would send the secrets of the body somewhere else;
    /// - check the server's certificate and host name;
    /// - throw for a response that is not complete, and decode a content coding that it asked for;
    /// - end at ``TransportRequest/timeout`` and when its task is cancelled. The library leaves a
    ///   transport alone that does not, but its connection then stays open.
    ///
    /// - Throws: ``TransportError``, if it is known whether the request may have been sent; after
    ///   any other error, the library assumes that it was.
    func send(_ request: TransportRequest) async throws -> TransportResponse

    /// Whether a response certainly comes from the server that the URL names, because TLS verified
    /// its certificate and host name; false unless a transport says otherwise.
    ///
    /// An identity token in such a response needs no signature (OpenID Connect Core §3.1.3.7), so
    /// a sign-in succeeds while Apple's public keys are unavailable. Otherwise, the library fetches
    /// the keys before it sends a code.
    var authenticatesServer: Bool { get }
}

extension Transport {
    /// False: see the requirement.
    public var authenticatesServer: Bool { false }
}

/// A request to Apple.
public struct TransportRequest: Sendable {
    package let request: HTTPRequest

    /// The time limit for the whole response.
    public let timeout: Duration

    /// Creates a request, for tests of a transport.
    ///
    /// - Parameters:
    ///   - method: `GET` or `POST`; anything else becomes `POST`.
    ///   - url: an absolute URL.
    ///   - headers: the header fields.
    ///   - body: the body.
    ///   - timeout: the time limit for the whole response.
    public init(
        method: String = "GET", url: String, headers: [(name: String, value: String)] = [],
        body: [UInt8] = [], timeout: Duration = .seconds(30)
    ) {
        self.init(
            HTTPRequest(
                method: HTTPRequest.Method(rawValue: method) ?? .post, url: url,
                fields: headers.map { HTTPField($0.name, $0.value) }, body: SecretBytes(body),
                isRepeatable: method == "GET"),
            timeout: timeout)
    }

    package init(_ request: HTTPRequest, timeout: Duration) {
        (self.request, self.timeout) = (request, timeout)
    }

    /// `GET` or `POST`.
    public var method: String { request.method.rawValue }

    /// The absolute URL.
    public var url: String { request.url }

    /// The header fields, without `Host` and `Content-Length`.
    public var headers: [(name: String, value: String)] {
        request.fields.map { ($0.name, $0.value) }
    }

    /// The body, empty for a GET. It contains secrets: never log it.
    public var body: [UInt8] { request.body.revealed() }
}

extension TransportRequest: Equatable {
    /// Whether method, URL, header fields, body and time limit are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.url == right.url && left.body == right.body
            && left.timeout == right.timeout
            && left.headers.elementsEqual(right.headers, by: ==)
    }
}

extension TransportRequest: CustomReflectable {
    /// Keeps `dump` and `print` from showing the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["method": method, "url": url, "timeout": timeout])
    }
}

/// A response of Apple.
public struct TransportResponse: Sendable {
    package let response: HTTPResponse

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: the status code.
    ///   - headers: the header fields in the order received.
    ///   - body: the body, without a content coding.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        response = HTTPResponse(
            status: status, fields: headers.map { HTTPField($0.name, $0.value) }, body: body)
    }

    package init(_ response: HTTPResponse) { self.response = response }

    /// The status code.
    public var status: Int { response.status }

    /// The header fields in the order received.
    public var headers: [(name: String, value: String)] {
        response.fields.map { ($0.name, $0.value) }
    }

    /// The body. It may contain tokens: never log it.
    public var body: [UInt8] { response.body }
}

extension TransportResponse: Equatable {
    /// Whether status, header fields and body are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.status == right.status && left.body == right.body
            && left.headers.elementsEqual(right.headers, by: ==)
    }
}

/// No complete response was received.
public struct TransportError: Error, Equatable, Sendable, CustomStringConvertible {
    package let error: SIWALifecycle.TransportError

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - message: what happened; it must contain no secret.
    ///   - requestMayHaveLeft: false only if certainly no byte of the request reached the server:
    ///     only then is a single-use code sent again.
    ///   - isTemporary: whether the same request may succeed later.
    public init(_ message: String, requestMayHaveLeft: Bool, isTemporary: Bool = true) {
        let kind: SIWALifecycle.TransportError.Kind =
            isTemporary ? (requestMayHaveLeft ? .cut : .connect) : .unavailable
        error = SIWALifecycle.TransportError(kind, message, requestMayHaveLeft: requestMayHaveLeft)
    }

    package init(_ error: SIWALifecycle.TransportError) { self.error = error }

    /// Whether both say the same.
    public static func == (left: Self, right: Self) -> Bool {
        left.description == right.description && left.isTemporary == right.isTemporary
            && left.requestMayHaveLeft == right.requestMayHaveLeft
    }

    /// What happened.
    public var description: String { error.message }

    /// False only if certainly no byte of the request reached the server.
    public var requestMayHaveLeft: Bool { error.requestMayHaveLeft }

    /// Whether the same request may succeed later.
    public var isTemporary: Bool { error.scope == .passing }
}

/// Adapts a ``Transport`` to the engine. Time limit and cancellation hold whatever the transport does.
struct EngineTransport: SIWALifecycle.Transport {
    private let base: any Transport
    private let timekeeper: Timekeeper

    /// A transport that keeps its time limit itself knows whether the request has left, so it may
    /// take this much longer.
    static let grace = Duration.milliseconds(200)

    init(_ base: any Transport, _ timekeeper: Timekeeper) {
        (self.base, self.timekeeper) = (base, timekeeper)
    }

    var authenticatesServer: Bool { base.authenticatesServer }

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(SIWALifecycle.TransportError) -> HTTPResponse {
        let base = base
        let result = await bounded(by: timeout + Self.grace, timekeeper) {
            await Self.send(TransportRequest(request, timeout: timeout), over: base)
        }
        switch result {
        case .value(let result): return try result.get()
        case .late:
            throw SIWALifecycle.TransportError(
                .timeout, "the transport did not end in time", requestMayHaveLeft: true)
        case .cancelled:
            throw SIWALifecycle.TransportError(
                .cancelled, "the task was cancelled", requestMayHaveLeft: true)
        }
    }

    private static func send(
        _ request: TransportRequest, over base: any Transport
    ) async -> Result<HTTPResponse, SIWALifecycle.TransportError> {
        do {
            return .success(try await base.send(request).response)
        } catch let error as TransportError {
            return .failure(error.error)
        } catch {
            // Only its type is shown, because its message may contain the request.
            return .failure(
                SIWALifecycle.TransportError(
                    error is CancellationError ? .cancelled : .cut,
                    "the transport failed with \(type(of: error))", requestMayHaveLeft: true))
        }
    }
}
