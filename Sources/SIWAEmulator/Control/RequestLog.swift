internal import SIWAJOSE

/// The latest requests: enough for a test run, and few enough to run for weeks.
struct RequestLog {
    /// The numbers of requests and of details that are kept.
    static let limit = 100_000
    static let detailsLimit = 1000

    private var records = LatestItems<RequestRecord>(limit: limit)
    private var details = LatestItems<RequestDetails>(limit: detailsLimit)

    /// The number of requests received, including removed ones.
    var count: Int { records.count }

    mutating func append(
        _ record: (_ number: Int) -> RequestRecord, details: RequestDetails
    ) {
        records.append(record(count + 1))
        self.details.append(details)
        records.change(count - Self.detailsLimit) { $0.checks = [] }
    }

    /// Whether there is a request after the one of that number; `path` nil means any path.
    func contains(after number: Int, _ path: String?) -> Bool {
        for _ in records(after: number, path) { return true }
        return false
    }

    /// The records after the one of that number, oldest first.
    func records(after number: Int, _ path: String?) -> some Sequence<RequestRecord> {
        // A number that does not exist yet is from before a reset.
        let after = number > count ? 0 : number
        return records.numbers.clamped(to: after + 1..<Int.max).lazy
            .compactMap { records[$0] }
            .filter { path == nil || $0.path == path }
    }

    /// The latest `limit` records after the request of that number that contain `text`, newest
    /// first; an empty text is in all.
    func newest(
        _ limit: Int, after number: Int = 0, containing text: String = ""
    ) -> [RequestRecord] {
        let text = text.lowercased()
        return Array(
            records.numbers.reversed().prefix { $0 > number }.lazy.compactMap { records[$0] }
                .filter { text.isEmpty || $0.contains(text) }.prefix(limit))
    }

    /// The request of that number, and its details while they are kept.
    func request(_ number: Int) -> (record: RequestRecord, details: RequestDetails?)? {
        records[number].map { ($0, details[number]) }
    }
}

/// The latest of many items, each found by its number; the first item has number 1.
struct LatestItems<Item> {
    private let limit: Int
    private var items: [Item] = []
    /// The number of appended items.
    private(set) var count = 0

    init(limit: Int) { self.limit = limit }

    /// The numbers of the items that are kept.
    var numbers: Range<Int> { count - items.count + 1..<count + 1 }

    mutating func append(_ item: Item) {
        if items.count < limit { items.append(item) } else { items[count % limit] = item }
        count += 1
    }

    /// The item with that number; nil if it was removed or never existed.
    subscript(number: Int) -> Item? {
        numbers.contains(number) ? items[(number - 1) % limit] : nil
    }

    /// Changes the item with that number in place, if it is still kept.
    mutating func change(_ number: Int, _ body: (inout Item) -> Void) {
        if numbers.contains(number) { body(&items[(number - 1) % limit]) }
    }
}
