internal import SIWACrypto
internal import SIWALifecycle

/// Collects an answer that libcurl receives, within limits: the server may be hostile.
struct AnswerCollector {
    private var fields = AnswerFields()
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
    /// The status of this answer; nil before its status line, and for a provisional answer.
    private(set) var status: Int?

    /// The largest body that is read; Apple's largest has a few kilobytes.
    static let bodyLimit = 1 << 20
    static let fieldLimit = 64 << 10

    init(_ rule: AnswerRule = .whole) { self.rule = rule }

    /// Begins the next answer.
    mutating func restart() {
        var next = Self(rule)
        swap(&next.fields, &fields)
        next.fields.restart()
        self = next
    }

    /// Whether the rest of the answer cannot change its meaning, because its body is dropped: an
    /// acceptance has no more to say than its status line, a refusal may have header fields.
    var isDecided: Bool {
        guard case .dropped = rule, let status else { return false }
        return isHeadComplete || (200..<300).contains(status)
    }

    /// Whether the body has the length that the header announced; false if it announced no length.
    var isWhole: Bool {
        guard isHeadComplete, let length = fields.received["Content-Length"] else { return false }
        return Int(length) == body.count
    }

    func response(status: Int) -> HTTPResponse {
        HTTPResponse(status: status, fields: fields.received, body: body)
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
        let line = Span<UInt8>(
            _unsafeBytes: UnsafeRawBufferPointer(start: bytes, count: count))
        if line.extracting(first: 5).isExactly("HTTP/") {
            fields.restart()
            isHeadComplete = false
            status = line.status
        } else if line.isExactly("\r\n") || line.isExactly("\n") {
            isHeadComplete = true
        } else {
            fields.append(line)
        }
        return count
    }
}

/// The header fields of the answers of one transfer. Most lines are those of the answer before, so
/// they are compared with these, and read only if they differ.
private struct AnswerFields {
    /// The fields of this answer, and the rest of those of the answer before.
    private var fields: [HTTPField] = []
    /// The lines of the fields.
    private var lines: [[UInt8]] = []
    /// The number of fields of this answer.
    private var count = 0

    /// The fields of this answer.
    var received: [HTTPField] { count == fields.count ? fields : Array(fields[..<count]) }

    /// Begins the next answer.
    mutating func restart() { count = 0 }

    /// Adds the field of a header line; a line without a colon is ignored.
    mutating func append(_ line: Span<UInt8>) {
        guard !isRepeated(line) else {
            count += 1
            return
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        fields.removeSubrange(count...)
        lines.removeSubrange(count...)
        let value = line.extracting(line.fieldValue(after: colon))
        fields.append(HTTPField(line.extracting(..<colon).text, value.text))
        lines.append(line.withUnsafeBytes { [UInt8]($0) })
        count += 1
    }

    /// Whether the answer before had this line in this place.
    private func isRepeated(_ line: Span<UInt8>) -> Bool {
        let lines = lines.span
        return count < lines.count && lines[count].span.isExactly(line)
    }
}

extension Span<UInt8> {
    /// The status in a status line; nil for a provisional one, and for anything else.
    fileprivate var status: Int? {
        guard let space = firstIndex(of: 0x20), count >= space + 4 else { return nil }
        var status = 0
        for index in (space + 1)...(space + 3) {
            guard (0x30...0x39).contains(self[index]) else { return nil }
            status = status * 10 + Int(self[index] - 0x30)
        }
        return status >= 200 ? status : nil
    }

    /// Where the value of a header line is.
    fileprivate func fieldValue(after colon: Int) -> Range<Int> {
        var start = colon + 1
        while start < count, self[start] == 0x20 || self[start] == 0x09 { start += 1 }
        var end = start
        while end < count, self[end] != 0x0D, self[end] != 0x0A { end += 1 }
        return start..<end
    }

    /// The bytes as UTF-8, repaired where they are invalid.
    fileprivate var text: String {
        withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

/// How the body of an answer is treated.
package enum AnswerRule: Hashable, Sendable {
    /// It is returned; a body that is longer than any of Apple's is an error.
    case whole
    /// The body is ignored; at most this number of bytes is read.
    case dropped(limit: Int)
}
