internal import SIWACCurl
internal import SIWACrypto
internal import SIWALifecycle

/// One request in flight: the easy handle, and all memory that libcurl borrows.
///
/// It must be retained while its handle is part of a multi handle, because libcurl's callbacks write
/// to its memory.
final class Transfer {
    let easy: UnsafeMutableRawPointer
    private let library: CurlLibrary
    let options: EasyOptions
    private(set) var request: HTTPRequest
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var fieldList: UnsafeMutablePointer<curl_slist>?
    /// How `request` is sent; nil until its options are set.
    private var manner: Manner?
    private let policy: TransferPolicy
    private let progress = UnsafeMutablePointer<Progress>.allocate(capacity: 1)

    init(
        _ request: HTTPRequest, timeout: Duration, trusting authorities: Authorities,
        _ library: CurlLibrary, over version: Version = .http1,
        policy: TransferPolicy = TransferPolicy()
    ) throws(TransportError) {
        self.policy = policy
        guard let easy = library.curl.call.curl_easy_init() else {
            errorText.deallocate()
            progress.deallocate()
            throw unavailable("libcurl has no memory")
        }
        (self.easy, self.library, self.request) = (easy, library, request)
        options = EasyOptions(easy: easy, library: library)
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        progress.initialize(to: Progress(answer: AnswerCollector(policy.answer)))
        try configure(trusting: authorities)
        try carry(request, timeout: timeout, over: version)
    }

    /// The version of HTTP to use.
    enum Version {
        /// Equally fast for one request. Over HTTP/2, libcurl 7.88 reports an answer that arrives
        /// before the body was read as an error.
        case http1
        /// Many requests over one connection, if the server supports it.
        case http2
    }

    /// What libcurl's callbacks write.
    private struct Progress {
        var answer: AnswerCollector
        /// Whether the connection is made and the request is about to be sent.
        var isOnItsWay = false
    }

    /// What belongs to the options of a request besides the request.
    private struct Manner: Equatable {
        let timeout: Duration
        let version: Version
    }

    /// Prepares the handle for a request. Reusing a handle costs a fraction of creating one.
    func carry(
        _ request: HTTPRequest, timeout: Duration, over version: Version
    ) throws(TransportError) {
        let manner = Manner(timeout: timeout, version: version)
        let isAlike = manner == self.manner && request.hasOptions(of: self.request)
        self.request = request
        progress.pointee.answer.restart()
        progress.pointee.isOnItsWay = false
        errorText.pointee = 0
        if !isAlike {
            self.manner = nil
            try setOptions(manner)
            self.manner = manner
        }
        try setBody()
    }

    /// Labels the handle with its slot, by which it is found when libcurl reports it.
    func label(_ slot: Int) throws(TransportError) {
        // The slot number plus one, passed as a pointer that libcurl returns; plus one because zero
        // would be a null pointer.
        let number = UnsafeRawPointer(bitPattern: slot + 1)
        try options.set(CURLOPT_PRIVATE, lending: number)
    }

    /// The slot with which a handle is labelled.
    static func label(of easy: UnsafeMutableRawPointer, _ library: CurlLibrary) -> Int? {
        var label: UnsafePointer<CChar>?
        _ = siwa_get_string(library.curl, easy, CURLINFO_PRIVATE, &label)
        return label.map { Int(bitPattern: $0) - 1 }
    }

    /// Whether the whole answer that the header announced was received, even if libcurl has not
    /// reported its end.
    var hasWholeAnswer: Bool { progress.pointee.answer.isWhole }

    /// Whether the header of the answer is complete.
    var hasHead: Bool { progress.pointee.answer.isHeadComplete }

    /// Whether the rest of the answer does not matter.
    var isDecided: Bool { progress.pointee.answer.isDecided }

    /// The answer as far as it was received.
    var response: HTTPResponse {
        let answer = progress.pointee.answer
        return answer.response(status: answer.status ?? status(CURLINFO_RESPONSE_CODE))
    }

    private var isOnItsWay: Bool { progress.pointee.isOnItsWay }

    deinit {
        library.curl.call.curl_easy_cleanup(easy)
        library.curl.call.curl_slist_free_all(fieldList)
        errorText.deallocate()
        progress.deinitialize(count: 1)
        progress.deallocate()
    }

    /// The result, once libcurl has finished.
    func outcome(_ code: CURLcode) -> Result<HTTPResponse, TransportError> {
        if isDecided { return .success(response) }
        guard code == CURLE_OK || progress.pointee.answer.isCutShort else {
            let detail = harmless(String(cString: errorText))
            return .failure(
                TransportError(
                    kind(of: code), detail.isEmpty ? library.message(code) : detail,
                    requestMayHaveLeft: isOnItsWay))
        }
        guard hasHead else {
            return .failure(
                TransportError(.cut, "it ended within the header", requestMayHaveLeft: isOnItsWay))
        }
        return .success(response)
    }

    /// Removes passwords: libcurl quotes an unreadable proxy URL completely.
    private func harmless(_ detail: String) -> String {
        detail.hasPrefix("Unsupported proxy") ? "the proxy's URL cannot be read" : detail
    }

    private func kind(of code: CURLcode) -> TransportError.Kind {
        // libcurl reports a field beyond its own limit as "out of memory".
        if progress.pointee.answer.isTooLarge || isOnItsWay && code == CURLE_OUT_OF_MEMORY {
            return .tooLarge
        }
        // libcurl has no error code for a proxy that refuses to connect.
        let proxyStatus = status(CURLINFO_HTTP_CONNECTCODE)
        if !isOnItsWay, proxyStatus != 0, proxyStatus / 100 != 2 { return .proxy }
        return TransportError.Kind(code)
    }

    private func status(_ information: CURLINFO) -> Int {
        var status = 0
        _ = siwa_get_long(library.curl, easy, information, &status)
        return status
    }

    /// The error of a cancelled transfer.
    var cancellation: TransportError {
        TransportError(.cancelled, "the request was cancelled", requestMayHaveLeft: isOnItsWay)
    }
}

// The options of libcurl. None of them disables a check of TLS.
extension Transfer {
    /// Sets the options of every request.
    private func configure(trusting authorities: Authorities) throws(TransportError) {
        try options.setCommon(trusting: authorities)
        try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        // Wait for a connection that is being opened instead of opening another one.
        try set(CURLOPT_PIPEWAIT, 1)
        // libcurl allocates both buffers for each request. Most bodies have less than a kilobyte.
        try set(CURLOPT_UPLOAD_BUFFERSIZE, 16 << 10)
        try set(CURLOPT_BUFFERSIZE, 4 << 10)
        try setCallbacks()
    }

    private func setOptions(_ manner: Manner) throws(TransportError) {
        try options.set(CURLOPT_URL, request.url)
        try set(request.method == .post ? CURLOPT_POST : CURLOPT_HTTPGET, 1)
        if let method = policy.method { try options.set(CURLOPT_CUSTOMREQUEST, method) }
        try set(
            CURLOPT_HTTP_VERSION,
            manner.version == .http1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS)
        // libcurl resends a request by itself if a reused connection turns out to be closed.
        try set(CURLOPT_FRESH_CONNECT, request.isRepeatable ? 0 : 1)
        let milliseconds = max(manner.timeout.wholeMilliseconds, 1)
        try set(CURLOPT_TIMEOUT_MS, milliseconds)
        try set(CURLOPT_CONNECTTIMEOUT_MS, min(milliseconds, 10_000))
        // Plain http is used for loopback only: a proxy would see secrets unencrypted.
        if !policy.usesProxies || request.url.hasPrefix("http://") {
            try options.set(CURLOPT_PROXY, "")
        }
        // Otherwise libcurl waits for a 100 before it sends a large body.
        try setFields(request.fields + (request.hasLargeBody ? [HTTPField("Expect", "")] : []))
    }

    private func setBody() throws(TransportError) {
        guard request.method == .post else { return }
        try set(CURLOPT_POSTFIELDSIZE, request.body.count)
        // libcurl borrows these bytes, which live as long as this object.
        try request.body.withUnsafeBytes { bytes throws(TransportError) in
            try options.set(CURLOPT_POSTFIELDS, lending: bytes.baseAddress)
        }
    }

    private func setFields(_ fields: [HTTPField]) throws(TransportError) {
        library.curl.call.curl_slist_free_all(fieldList)
        fieldList = nil
        // libcurl sends the type of a form by itself, and compares each listed field with many names.
        for field in fields where field != Self.formType {
            let line = field.value.isEmpty ? "\(field.name):" : "\(field.name): \(field.value)"
            guard let longer = library.curl.call.curl_slist_append(fieldList, line) else {
                throw unavailable("libcurl has no memory")
            }
            fieldList = longer
        }
        try options.set(CURLOPT_HTTPHEADER, lending: fieldList)
    }

    private static let formType = HTTPField("Content-Type", Form.contentType)

    private func setCallbacks() throws(TransportError) {
        try options.set(CURLOPT_ERRORBUFFER, lending: errorText)
        try options.set(CURLOPT_WRITEDATA, lending: progress)
        try options.set(CURLOPT_HEADERDATA, lending: progress)
        try options.set(CURLOPT_PREREQDATA, lending: progress)
        try check(
            siwa_set_write(library.curl, easy, CURLOPT_WRITEFUNCTION) {
                bytes, _, count, context in
                Transfer.progress(context)?.pointee.answer.appendBody(bytes, count) ?? 0
            })
        try check(
            siwa_set_write(library.curl, easy, CURLOPT_HEADERFUNCTION) {
                bytes, _, count, context in
                Transfer.progress(context)?.pointee.answer.appendField(bytes, count) ?? 0
            })
        try check(
            siwa_set_prerequest(library.curl, easy) { context, _, _, _, _ in
                Transfer.progress(context)?.pointee.isOnItsWay = true
                return CURL_PREREQFUNC_OK
            })
    }

    private static func progress(
        _ context: UnsafeMutableRawPointer?
    ) -> UnsafeMutablePointer<Progress>? {
        context?.assumingMemoryBound(to: Progress.self)
    }

    private func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
        try options.set(option, value)
    }

    private func check(_ code: CURLcode) throws(TransportError) { try options.check(code) }
}

extension HTTPRequest {
    /// Whether it has the options of another request, as most do.
    fileprivate func hasOptions(of other: Self) -> Bool {
        method == other.method && isRepeatable == other.isRepeatable
            && hasLargeBody == other.hasLargeBody && url == other.url && fields == other.fields
    }

    /// Whether libcurl would ask the server before it sends the body.
    fileprivate var hasLargeBody: Bool { body.count >= 1 << 20 }
}

extension Duration {
    /// The whole milliseconds, limited to what fits.
    var wholeMilliseconds: Int {
        Int(clamping: components.seconds.multipliedReportingOverflow(by: 1000).partialValue)
            + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
