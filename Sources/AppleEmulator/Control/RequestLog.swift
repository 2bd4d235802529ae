internal import SignInWithApple

/// The latest requests, so many that a test run fits and a week does not fill the memory.
struct RequestLog {
    /// How many are kept, and of how many the details.
    static let limit = 100_000
    static let detailsLimit = 1000

    private var records = LatestItems<RequestRecord>(limit: limit)
    private var details = LatestItems<RequestDetails>(limit: detailsLimit)

    /// How many requests came, forgotten ones included.
    var count: Int { records.count }

    mutating func append(
        _ record: (_ number: Int) -> RequestRecord, details: RequestDetails
    ) {
        records.append(record(count + 1))
        self.details.append(details)
        records[count - Self.detailsLimit]?.checks = []
    }

    /// Whether a request is there that `selection` asks for.
    func contains(_ selection: LogSelection) -> Bool {
        for _ in wanted(selection) { return true }
        return false
    }

    /// The records that are asked for, oldest first.
    func json(_ selection: LogSelection) -> JSON {
        ["requests": .array(wanted(selection).prefix(selection.limit).map(\.json))]
    }

    /// The latest `limit` records behind the request of that number, newest first.
    func newest(_ limit: Int, after number: Int = 0) -> [RequestRecord] {
        records.numbers.reversed().prefix { $0 > number }.prefix(limit).compactMap { records[$0] }
    }

    /// The request of that number, and its details while they are kept.
    func request(_ number: Int) -> (record: RequestRecord, details: RequestDetails?)? {
        records[number].map { ($0, details[number]) }
    }

    private func wanted(_ selection: LogSelection) -> some Sequence<RequestRecord> {
        let first = records.numbers.lowerBound
        // A number that is not given yet is one from before a reset.
        let after = selection.after > count ? 0 : selection.after
        return (max(after + 1, first)..<count + 1).lazy
            .compactMap { records[$0] }
            .filter { selection.path == nil || $0.path == selection.path }
    }
}

/// The latest of many items, each found by its number; the first item has number 1.
struct LatestItems<Item> {
    private let limit: Int
    private var items: [Item] = []
    /// How many were appended.
    private(set) var count = 0

    init(limit: Int) { self.limit = limit }

    /// The numbers of the items that are kept.
    var numbers: Range<Int> { count - items.count + 1..<count + 1 }

    mutating func append(_ item: Item) {
        if items.count < limit { items.append(item) } else { items[count % limit] = item }
        count += 1
    }

    /// The item of that number; nil when it was forgotten or never was.
    subscript(number: Int) -> Item? {
        get { numbers.contains(number) ? items[(number - 1) % limit] : nil }
        set {
            guard numbers.contains(number), let newValue else { return }
            items[(number - 1) % limit] = newValue
        }
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
    /// How long to wait for the first of them.
    let wait: Duration

    /// Reads the query of `GET /emulator/requests`.
    init(json: JSON) throws(ShapeError) {
        let reader = try MemberReader(json, knowing: ["path", "after", "limit", "wait"])
        path = try reader.optional("path")
        after = try Self.number("after", reader) ?? 0
        limit = try Self.number("limit", reader) ?? RequestLog.limit
        wait = try reader.optional("wait") ?? .zero
        guard (.zero ... .seconds(60)).contains(wait) else {
            throw ShapeError("", "'wait' must be 0s to 60s")
        }
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
