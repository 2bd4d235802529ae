internal import Lifecycle

/// Collects an answer that libcurl receives, within limits: the server may be hostile.
struct AnswerCollector {
    private var fields: [HTTPField] = []
    private var fieldBytes = 0
    private var body: [UInt8] = []
    private(set) var isTooLarge = false
    /// Whether the rest of the body was not read, because of the rule.
    private(set) var isCutShort = false
    private let rule: AnswerRule
    private var dropped = 0
    /// Whether the header section is complete. libcurl treats a connection that is closed in its
    /// middle as an answer without a body.
    private(set) var isHeadComplete = false

    /// The largest body that is read; Apple's largest has a few kilobytes.
    static let bodyLimit = 1 << 20
    static let fieldLimit = 64 << 10

    init(_ rule: AnswerRule = .whole) { self.rule = rule }

    /// Whether the body has the length that the header announced; false if it announced no length.
    var isWhole: Bool {
        guard isHeadComplete, let length = fields["Content-Length"] else { return false }
        return Int(length) == body.count
    }

    func response(status: Int) -> HTTPResponse {
        HTTPResponse(status: status, fields: fields, body: body)
    }

    /// Returns the number of bytes taken; a smaller number than offered makes libcurl stop.
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

    /// Takes one header line. A status line begins a new answer: earlier lines were those of a
    /// proxy or of a provisional answer.
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

/// How the body of an answer is treated.
package enum AnswerRule: Hashable, Sendable {
    /// It is returned; a body that is longer than any of Apple's is an error.
    case whole
    /// The body is ignored; at most this number of bytes is read.
    case dropped(limit: Int)
}
