internal import SignInWithApple

/// The latest requests, so many that a test run fits and a week does not fill the memory.
struct RequestLog {
    /// How many are kept.
    static let limit = 100_000

    private var records: [RequestRecord] = []
    /// Where the oldest record stands once the log is full.
    private var oldest = 0
    /// How many requests came, forgotten ones included.
    private(set) var count = 0

    mutating func append(_ record: (_ number: Int) -> RequestRecord) {
        count += 1
        if records.count < Self.limit {
            records.append(record(count))
        } else {
            records[oldest] = record(count)
            oldest = (oldest + 1) % Self.limit
        }
    }

    /// The records, oldest first: all, or those of one path.
    func json(of path: String?) -> JSON {
        let all = records[oldest...] + records[..<oldest]
        return ["requests": .array(all.filter { path == nil || $0.path == path }.map(\.json))]
    }
}
