internal import Lifecycle

/// Collects an answer as libcurl hands it over, within bounds: the server may be hostile.
struct AnswerCollector {
    private var fields: [HTTPField] = []
    private var fieldBytes = 0
    private var body: [UInt8] = []
    private(set) var isTooLarge = false
    /// Whether the rest of the body was not read, as its rule says.
    private(set) var isCutShort = false
    private let rule: AnswerRule
    private var dropped = 0
    /// Whether the header came to its end. libcurl takes a connection that is closed in the
    /// middle of it for an answer without a body.
    private(set) var isHeadComplete = false

    /// Apple's largest answer has a few kilobytes.
    static let bodyLimit = 1 << 20
    static let fieldLimit = 64 << 10

    init(_ rule: AnswerRule = .whole) { self.rule = rule }

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
        if case .dropped(let limit) = rule {
            dropped += count
            isCutShort = dropped > limit
            return isCutShort ? 0 : count
        }
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
        let line = UnsafeRawBufferPointer(start: bytes, count: count)
        if line.starts(with: "HTTP/".utf8) {
            fields = []
            isHeadComplete = false
        } else if line.elementsEqual("\r\n".utf8) || line.elementsEqual("\n".utf8) {
            isHeadComplete = true
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
                .prefix { $0 != 0x0D && $0 != 0x0A }
            fields.append(
                HTTPField(
                    String(decoding: line[..<colon], as: UTF8.self),
                    String(decoding: value, as: UTF8.self)))
        }
        return count
    }
}

/// What becomes of the body of an answer.
package enum AnswerRule: Hashable, Sendable {
    /// It is answered; one that is longer than any of Apple's is an error.
    case whole
    /// The body is ignored; at most this number of bytes is read.
    case dropped(limit: Int)
}
