internal import SignInWithApple

/// Collects an answer as libcurl hands it over, within bounds: the server may be hostile.
struct AnswerCollector {
    private var fields: [HTTPField] = []
    private var fieldBytes = 0
    private var body: [UInt8] = []
    private(set) var isTooLarge = false
    /// Whether the header came to its end. libcurl takes a connection that is closed in the
    /// middle of it for an answer without a body.
    private(set) var isHeadComplete = false

    /// Apple's largest answer has a few kilobytes.
    static let bodyLimit = 1 << 20
    static let fieldLimit = 64 << 10

    /// Whether the body is as long as the header said, which must have said it.
    var isWhole: Bool {
        guard isHeadComplete, let length = fields["Content-Length"] else { return false }
        return Int(length) == body.count
    }

    func response(status: Int) -> HTTPResponse {
        HTTPResponse(status: status, fields: fields, body: body)
    }

    /// Answers how many bytes were taken; fewer than offered makes libcurl stop.
    mutating func appendBody(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> Int {
        guard body.count + count <= Self.bodyLimit else {
            isTooLarge = true
            return 0
        }
        body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return count
    }

    /// Takes one header line. A status line begins a new answer: what a proxy or a
    /// provisional answer said before is not Apple's.
    mutating func appendField(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> Int {
        fieldBytes += count
        guard fieldBytes <= Self.fieldLimit else {
            isTooLarge = true
            return 0
        }
        let line = String(
            decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            fields = []
            isHeadComplete = false
        } else if line == "\r\n" || line == "\n" {
            isHeadComplete = true
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            fields.append(
                HTTPField(
                    String(line[..<colon]),
                    String(value.prefix { !$0.isNewline })))
        }
        return count
    }
}
