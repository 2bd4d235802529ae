internal import CCurl
internal import Lifecycle
internal import SIWACrypto

/// One request in flight: the easy handle, and all memory libcurl borrows while it runs.
///
/// Owned from before its handle is added to a multi handle until after it is removed;
/// libcurl's callbacks get it unretained, which is safe because of that.
final class Transfer {
    let easy: UnsafeMutableRawPointer
    private let library: CurlLibrary
    private(set) var request: HTTPRequest
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var fieldList: UnsafeMutablePointer<curl_slist>?
    private var listedFields: [HTTPField] = []
    private let policy: TransferPolicy
    private var answer: AnswerCollector
    /// Set by libcurl when the connection is made and the request is about to be sent.
    private var isOnItsWay = false

    init(
        _ request: HTTPRequest, timeout: Duration, trusting authorities: Authorities,
        _ library: CurlLibrary, over version: Version = .http1,
        policy: TransferPolicy = TransferPolicy()
    ) throws(TransportError) {
        (self.policy, answer) = (policy, AnswerCollector(policy.answer))
        guard let easy = library.functions.pointee.curl_easy_init() else {
            errorText.deallocate()
            throw unavailable("libcurl has no memory")
        }
        (self.easy, self.library, self.request) = (easy, library, request)
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        try configure(trusting: authorities)
        try carry(request, timeout: timeout, over: version)
    }

    /// The protocol to speak.
    enum Version {
        /// As fast for one request, and an answer that comes before the body was read, which
        /// libcurl 7.88 takes for an error over HTTP/2, does no harm.
        case http1
        /// Many requests over one connection, where the server speaks it.
        case http2
    }

    /// Takes up a request, the first or, its predecessor being done with, another one: a
    /// handle that is used again costs a fraction of a new one.
    func carry(
        _ request: HTTPRequest, timeout: Duration, over version: Version
    ) throws(TransportError) {
        self.request = request
        answer = AnswerCollector(policy.answer)
        isOnItsWay = false
        errorText.pointee = 0
        try setRequest(timeout: timeout, over: version)
    }

    /// Writes the slot of a feed on the handle, to be found again when libcurl names it.
    func label(_ slot: Int) throws(TransportError) {
        // The slot number plus one, passed as a pointer that libcurl returns; plus one because zero
        // would be a null pointer.
        let number = UnsafeRawPointer(bitPattern: slot + 1)
        try options.set(CURLOPT_PRIVATE, lending: number)
    }

    /// The slot on a handle's label.
    static func label(of easy: UnsafeMutableRawPointer, _ library: CurlLibrary) -> Int? {
        var label: UnsafePointer<CChar>?
        _ = siwa_get_string(library.functions, easy, CURLINFO_PRIVATE, &label)
        return label.map { Int(bitPattern: $0) - 1 }
    }

    /// Whether all that the answer's header announced has come, although libcurl may not have
    /// said so.
    var hasWholeAnswer: Bool { answer.isWhole }

    /// Whether the answer has begun in earnest: its header is complete.
    var hasHead: Bool { answer.isHeadComplete }

    /// The answer as far as it was received.
    var response: HTTPResponse { answer.response(status: status(CURLINFO_RESPONSE_CODE)) }

    deinit {
        library.functions.pointee.curl_easy_cleanup(easy)
        library.functions.pointee.curl_slist_free_all(fieldList)
        errorText.deallocate()
    }

    /// The result, once libcurl has finished.
    func outcome(_ code: CURLcode) -> Result<HTTPResponse, TransportError> {
        guard code == CURLE_OK || answer.isCutShort else {
            let detail = harmless(String(cString: errorText))
            return .failure(
                TransportError(
                    kind(of: code), detail.isEmpty ? library.message(code) : detail,
                    requestMayHaveLeft: isOnItsWay))
        }
        guard answer.isHeadComplete else {
            return .failure(
                TransportError(.cut, "it ended within the header", requestMayHaveLeft: isOnItsWay))
        }
        return .success(response)
    }

    /// libcurl quotes a proxy it cannot read whole, the password in it included.
    private func harmless(_ detail: String) -> String {
        detail.hasPrefix("Unsupported proxy") ? "the proxy's URL cannot be read" : detail
    }

    private func kind(of code: CURLcode) -> TransportError.Kind {
        // A single field beyond libcurl's own limit is "out of memory" to it.
        if answer.isTooLarge || isOnItsWay && code == CURLE_OUT_OF_MEMORY { return .tooLarge }
        // libcurl has no error code for a proxy that refuses to connect.
        let proxyStatus = status(CURLINFO_HTTP_CONNECTCODE)
        if !isOnItsWay, proxyStatus != 0, proxyStatus / 100 != 2 { return .proxy }
        return TransportError.Kind(code)
    }

    private func status(_ information: CURLINFO) -> Int {
        var status = 0
        _ = siwa_get_long(library.functions, easy, information, &status)
        return status
    }

    /// The error of a transfer that its caller gave up.
    var cancellation: TransportError {
        TransportError(.cancelled, "the request was cancelled", requestMayHaveLeft: isOnItsWay)
    }
}

// The options of libcurl. Nothing here can switch off a check of TLS.
extension Transfer {
    /// What holds for every request.
    private func configure(trusting authorities: Authorities) throws(TransportError) {
        try options.setCommon(trusting: authorities)
        try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        // Rather a stream of a connection that is being made than another connection.
        try set(CURLOPT_PIPEWAIT, 1)
        try setCallbacks()
    }

    /// What belongs to one request.
    private func setRequest(timeout: Duration, over version: Version) throws(TransportError) {
        try options.set(CURLOPT_URL, request.url)
        try set(
            CURLOPT_HTTP_VERSION,
            version == .http1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS)
        // A kept connection that turns out dead makes libcurl send again by itself.
        try set(CURLOPT_FRESH_CONNECT, request.isRepeatable ? 0 : 1)
        let milliseconds = max(timeout.wholeMilliseconds, 1)
        try set(CURLOPT_TIMEOUT_MS, milliseconds)
        try set(CURLOPT_CONNECTTIMEOUT_MS, min(milliseconds, 10_000))
        // Plain http is for loopback: a proxy would see secrets in the open.
        if !policy.usesProxies || request.url.hasPrefix("http://") {
            try options.set(CURLOPT_PROXY, "")
        }
        try setBody()
        try setFields()
    }

    private func setBody() throws(TransportError) {
        guard request.method == .post else { return try set(CURLOPT_HTTPGET, 1) }
        try set(CURLOPT_POST, 1)
        try set(CURLOPT_POSTFIELDSIZE, request.body.count)
        // libcurl borrows these bytes; the request, and so they, live as long as this object.
        try request.body.withUnsafeBytes { bytes throws(TransportError) in
            try options.set(CURLOPT_POSTFIELDS, lending: bytes.baseAddress)
        }
    }

    private func setFields() throws(TransportError) {
        // Without this libcurl asks for a 100 before it sends a body of a megabyte.
        let expectation = request.body.count < 1 << 20 ? [] : [HTTPField("Expect", "")]
        let fields = request.fields + expectation
        guard fields != listedFields || fieldList == nil else { return }
        library.functions.pointee.curl_slist_free_all(fieldList)
        fieldList = nil
        for field in fields {
            let line = field.value.isEmpty ? "\(field.name):" : "\(field.name): \(field.value)"
            guard let longer = library.functions.pointee.curl_slist_append(fieldList, line) else {
                throw unavailable("libcurl has no memory")
            }
            fieldList = longer
        }
        listedFields = fields
        try options.set(CURLOPT_HTTPHEADER, lending: fieldList)
    }

    private func setCallbacks() throws(TransportError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        try options.set(CURLOPT_ERRORBUFFER, lending: errorText)
        try options.set(CURLOPT_WRITEDATA, lending: context)
        try options.set(CURLOPT_HEADERDATA, lending: context)
        try options.set(CURLOPT_PREREQDATA, lending: context)
        try check(
            siwa_set_write(library.functions, easy, CURLOPT_WRITEFUNCTION) {
                bytes, _, count, context in
                Transfer.lent(by: context)?.answer.appendBody(bytes, count) ?? 0
            })
        try check(
            siwa_set_write(library.functions, easy, CURLOPT_HEADERFUNCTION) {
                bytes, _, count, context in
                Transfer.lent(by: context)?.answer.appendField(bytes, count) ?? 0
            })
        try check(
            siwa_set_prerequest(library.functions, easy) { context, _, _, _, _ in
                Transfer.lent(by: context)?.isOnItsWay = true
                return CURL_PREREQFUNC_OK
            })
    }

    private static func lent(by context: UnsafeMutableRawPointer?) -> Transfer? {
        context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    private var options: EasyOptions { EasyOptions(easy: easy, library: library) }

    private func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
        try options.set(option, value)
    }

    private func check(_ code: CURLcode) throws(TransportError) { try options.check(code) }
}

extension Duration {
    /// Whole milliseconds, as far as they fit.
    var wholeMilliseconds: Int {
        Int(clamping: components.seconds.multipliedReportingOverflow(by: 1000).partialValue)
            + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
