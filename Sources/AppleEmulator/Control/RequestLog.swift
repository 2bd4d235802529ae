internal import SignInWithApple

/// The latest requests, so many that a test run fits and a week does not fill the memory.
struct RequestLog {
    /// How many are kept.
    static let limit = 100_000
    /// How many of them keep their checks.
    static let detailLimit = 1000

    private var records: [RequestRecord] = []
    /// Where the oldest record stands once the log is full.
    private var oldest = 0
    /// How many requests came, forgotten ones included. A reset does not begin anew: whoever
    /// follows the log goes on.
    private(set) var count: Int

    init(startingAfter count: Int = 0) { self.count = count }

    mutating func append(_ record: (_ number: Int) -> RequestRecord) {
        count += 1
        if records.count < Self.limit {
            records.append(record(count))
        } else {
            records[oldest] = record(count)
            oldest = (oldest + 1) % Self.limit
        }
        guard records.count > Self.detailLimit else { return }
        records[index(of: count - Self.detailLimit)].checks = []
    }

    /// Where the record of one number is.
    private func index(of number: Int) -> Int {
        (oldest + number - (count - records.count + 1)) % records.count
    }

    /// The records that are asked for, oldest first.
    func json(_ selection: LogSelection) -> JSON {
        let first = count - records.count + 1
        let wanted = stride(from: max(selection.after + 1, first), through: count, by: 1).lazy
            .map { records[index(of: $0)] }
            .filter { selection.path == nil || $0.path == selection.path }
        return ["requests": .array(wanted.prefix(selection.limit).map(\.json))]
    }
}

/// Which requests somebody wants to see.
struct LogSelection {
    /// Those to this path; nil for all.
    let path: String?
    /// Those behind this number.
    let after: Int
    /// No more than so many.
    let limit: Int

    /// Reads the query of `GET /emulator/requests`.
    init(json: JSON) throws(ShapeError) {
        let reader = try MemberReader(json, knowing: ["path", "after", "limit"])
        path = try reader.optional("path")
        after = try Self.number("after", reader) ?? 0
        limit = try Self.number("limit", reader) ?? RequestLog.limit
    }

    /// In a query, every value is text.
    private static func number(_ name: String, _ reader: MemberReader) throws(ShapeError) -> Int? {
        guard let text: String = try reader.optional(name) else { return nil }
        guard let number = Int(text), (0...Int(Int32.max)).contains(number) else {
            throw ShapeError("", "'\(name)' must be a whole number")
        }
        return number
    }
}
