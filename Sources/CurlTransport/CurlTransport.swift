internal import CCurl
internal import Dispatch
public import SignInWithApple

/// Carries requests over libcurl: TLS 1.2 or newer, certificate and host always checked,
/// redirects not followed, answers bounded, the usual proxy variables honoured.
///
/// Many requests may be in flight; they share connections. libcurl is loaded by the first
/// transport made, and by nothing else in the program.
public actor CurlTransport: FeedTransport {
    private let executor: CurlExecutor
    private let library: CurlLibrary
    private let authorities: Authorities
    private var inFlight: [UnsafeMutableRawPointer: Pending] = [:]
    private var lastNumber = 0
    private var isTurning = false

    private struct Pending {
        let key: Key
        let transfer: Transfer
        let continuation: CheckedContinuation<Result<HTTPResponse, TransportError>, Never>
    }

    /// The queue that alone touches libcurl's handles.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Loads libcurl.
    ///
    /// - Parameters:
    ///   - authorityFile: certificates to trust besides the system's.
    ///   - variables: the environment, for the names curl gives the system's authorities.
    /// - Throws: ``TransportError`` when libcurl is missing, too old, or a file is unreadable.
    public init(
        authorityFile: String? = nil, variables: (String) -> String? = { _ in nil }
    ) throws(TransportError) {
        library = try CurlLibrary.shared.get()
        executor = try CurlExecutor(library)
        authorities = try Authorities(adding: authorityFile, variables: variables, library)
    }

    /// Sends `request` once; see ``Transport``.
    public func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        guard timeout > .zero else {
            throw TransportError(.timeout, "no time is left", requestMayHaveLeft: false)
        }
        let transfer = try Transfer(
            request, timeout: timeout, trusting: authorities, library)
        lastNumber += 1
        let key = Key(easy: transfer.easy, number: lastNumber)
        return try await withTaskCancellationHandler {
            await withCheckedContinuation {
                start(Pending(key: key, transfer: transfer, continuation: $0))
            }
        } onCancel: {
            Task { await self.cancel(key) }
        }.get()
    }

    /// Carries a whole feed on a thread of its own; see ``FeedTransport``.
    public func carry<Feed: RequestFeed>(
        _ feed: Feed, width: Int, bell: FeedBell, timekeeper: Timekeeper
    ) async throws(TransportError) -> Feed {
        let (authorities, library) = (authorities, library)
        return try await withCheckedContinuation { continuation in
            DispatchQueue(label: "siwa.feed", qos: .userInitiated).async {
                let result = Result { () throws(TransportError) in
                    let loop = try FeedLoop(
                        feed, width: width, trusting: authorities, timekeeper: timekeeper, library)
                    return try loop.run(bell: bell)
                }
                continuation.resume(returning: result)
            }
        }.get()
    }

    /// Names a transfer across isolation without touching it. The handle's address is not
    /// enough: a cancellation that comes late would meet the next transfer at the same place.
    private struct Key: @unchecked Sendable {
        let easy: UnsafeMutableRawPointer
        let number: Int
    }

    private func start(_ pending: Pending) {
        // The cancellation handler may have run already, and found nothing to cancel.
        guard !Task.isCancelled else {
            pending.continuation.resume(returning: .failure(pending.transfer.cancellation))
            return
        }
        let easy = pending.transfer.easy
        let code = library.functions.pointee.multi_add_handle(multi, easy)
        guard code == CURLM_OK else {
            pending.continuation.resume(returning: .failure(failure(code, mayHaveLeft: false)))
            return
        }
        inFlight[easy] = pending
        guard !isTurning else { return }
        isTurning = true
        turn()
    }

    private func cancel(_ key: Key) {
        guard let pending = inFlight[key.easy], pending.key.number == key.number else { return }
        finish(key.easy, .failure(pending.transfer.cancellation))
    }

    /// One turn of libcurl. Turns follow each other while anything is in flight; new
    /// requests and cancellations get the queue between them, and end a wait.
    private func turn() {
        var running: CInt = 0
        let performed = library.functions.pointee.multi_perform(multi, &running)
        var left: CInt = 0
        while let message = library.functions.pointee.multi_info_read(multi, &left) {
            guard let easy = message.pointee.easy_handle, let pending = inFlight[easy] else {
                continue
            }
            finish(easy, pending.transfer.outcome(siwa_result(message)))
        }
        guard performed == CURLM_OK else { return failAll(performed) }
        guard !inFlight.isEmpty else { return isTurning = false }
        let polled = library.functions.pointee.multi_poll(multi, nil, 0, 1000, nil)
        guard polled == CURLM_OK else { return failAll(polled) }
        executor.runNext { self.assumeIsolated { $0.turn() } }
    }

    private func finish(
        _ easy: UnsafeMutableRawPointer, _ result: Result<HTTPResponse, TransportError>
    ) {
        _ = library.functions.pointee.multi_remove_handle(multi, easy)
        inFlight.removeValue(forKey: easy)?.continuation.resume(returning: result)
    }

    private func failAll(_ code: CURLMcode) {
        for easy in inFlight.keys { finish(easy, .failure(failure(code))) }
        isTurning = false
    }

    /// libcurl itself failed; in the middle of things nobody knows how far a request got.
    private func failure(_ code: CURLMcode, mayHaveLeft: Bool = true) -> TransportError {
        let reason = library.functions.pointee.multi_strerror(code).map { String(cString: $0) }
        return TransportError(
            .unavailable, reason ?? "libcurl failed", requestMayHaveLeft: mayHaveLeft)
    }

    private var multi: UnsafeMutableRawPointer { UnsafeMutableRawPointer(executor.multi) }
}
