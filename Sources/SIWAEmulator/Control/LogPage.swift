internal import SIWAJOSE

/// The requested part of a log: the query of `GET /emulator/requests` and `GET
/// /emulator/notifications/sent`.
struct LogPage {
    /// The number after which the rows begin.
    let after: Int
    /// The most rows of the answer; nil for all.
    let limit: Int?
    /// How long the answer waits for the first row.
    let wait: Duration

    static let members = ["after", "limit", "wait"]
    /// The most bytes in the rows of a page. The whole answer is less than 1 MiB, a common limit of
    /// HTTP clients.
    private static let bytesLimit = 1_000_000

    init(_ reader: JSONObjectReader) throws(ShapeError) {
        after = try Self.number("after", reader) ?? 0
        limit = try Self.number("limit", reader)
        wait = try reader.optional("wait") ?? .zero
        guard (.zero ... .seconds(60)).contains(wait) else {
            throw ShapeError("", "'wait' must be 0s to 60s")
        }
    }

    /// In a query, every value is text.
    private static func number(_ name: String, _ reader: JSONObjectReader) throws(ShapeError)
        -> Int?
    {
        guard let text: String = try reader.optional(name) else { return nil }
        guard let number = Int(text), (0...Int(Int32.max)).contains(number) else {
            throw ShapeError("", "'\(name)' must be a whole number")
        }
        return number
    }

    /// The rows of the answer. With a limit there may be fewer rows than that, but at least one: the
    /// next page begins after the last row.
    func rows(_ rows: some Sequence<JSON>) -> JSON {
        guard let limit else { return .array(Array(rows)) }
        var (page, bytes) = ([JSON](), 0)
        for row in rows.prefix(limit) {
            bytes += row.bytes.count + 2
            guard page.isEmpty || bytes <= Self.bytesLimit else { break }
            page.append(row)
        }
        return .array(page)
    }
}
