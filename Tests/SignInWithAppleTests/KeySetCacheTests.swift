import SIWAJOSE
import SIWALifecycle
import Testing

/// The policy, and nothing else: no file, no clock, no request.
@Suite struct KeySetCacheTests {
    /// The moment of every question; a cache's times count from here, in seconds.
    static let now = NumericDate(1_800_000_000)

    /// A cache as a file brings it: with the key `one`, fetched at, paused until.
    static func cache(fetched: Int? = nil, paused: Int? = nil) throws -> KeySetCache {
        var members: [JSON.Member] = [
            .init("base_url", "https://appleid.apple.com"), .init("first_seen", [:]),
        ]
        if let paused { members.append(.init("paused_until", .integer(now.seconds + paused))) }
        if let fetched {
            members.append(.init("fetched_at", .integer(now.seconds + fetched)))
            members.append(.init("key_set", ["keys": [KeySetTests.key()]]))
        }
        return try #require(KeySetCache(JSON.object(members).bytes, for: .apple))
    }

    static func query(
        _ kid: String? = nil, asked: Int = 0, from source: KeySetQuery.Source = .any
    ) -> KeySetQuery {
        KeySetQuery(holding: kid, askedAt: now + .seconds(asked), from: source)
    }

    struct Case: Sendable {
        var fetched: Int?
        var paused: Int?
        var kid: String?
        var asked = 0
        var source = KeySetQuery.Source.any
        let step: KeySetCache.Step
    }

    static let table: [Row<Case>] = [
        // Nothing is held.
        Row("nothing yet", Case(step: .fetch)),
        Row("nothing yet, one key wanted", Case(kid: "one", step: .fetch)),
        Row("the first fetch failed", Case(paused: 50, step: .unavailable)),
        Row("it failed a minute ago", Case(paused: 0, step: .fetch)),
        Row("it failed while we waited", Case(paused: 0, asked: -1, step: .unavailable)),
        Row("it failed before the clock was set back", Case(paused: 61, step: .fetch)),
        Row("nothing, offline", Case(source: .cache, step: .unavailable)),
        Row("it failed, asked all the same", Case(paused: 50, source: .apple, step: .fetch)),
        // A fresh set.
        Row("fresh", Case(fetched: -1, step: .use)),
        Row("this very second", Case(fetched: 0, kid: "one", step: .use)),
        Row("the last second of the hour", Case(fetched: -3599, kid: "one", step: .use)),
        Row("fresh, during a pause", Case(fetched: -30, paused: 30, kid: "one", step: .use)),
        Row("fresh, offline", Case(fetched: -1, source: .cache, step: .use)),
        Row("fresh, asked all the same", Case(fetched: -1, source: .apple, step: .fetch)),
        // A key that is not in it.
        Row("unknown kid", Case(fetched: -1, kid: "two", step: .fetch)),
        Row("unknown kid again", Case(fetched: -1, paused: 59, kid: "two", step: .useStale)),
        Row("the pause's last second", Case(fetched: -59, paused: 1, kid: "two", step: .useStale)),
        Row("the pause is over", Case(fetched: -60, paused: 0, kid: "two", step: .fetch)),
        Row(
            "asked in the pause",
            Case(fetched: -60, paused: 0, kid: "two", asked: -1, step: .useStale)),
        Row("unknown kid, offline", Case(fetched: -1, kid: "two", source: .cache, step: .useStale)),
        Row("a kid that looks alike", Case(fetched: -1, kid: "ONE", step: .fetch)),
        // An old set.
        Row("an hour old", Case(fetched: -3600, kid: "one", step: .fetch)),
        Row("a year old", Case(fetched: -31_536_000, step: .fetch)),
        Row("old, and Apple out of reach", Case(fetched: -3600, paused: 60, step: .useStale)),
        Row("old and offline", Case(fetched: -3600, source: .cache, step: .useStale)),
        Row(
            "old, asked all the same",
            Case(fetched: -9999, paused: 60, source: .apple, step: .fetch)),
        Row("seven days old and offline", Case(fetched: -604_800, source: .cache, step: .useStale)),
        Row("older and offline", Case(fetched: -604_801, source: .cache, step: .unavailable)),
        Row("older, in a pause", Case(fetched: -604_801, paused: 60, step: .unavailable)),
        Row(
            "from more than seven days ahead, offline",
            Case(fetched: 604_801, source: .cache, step: .unavailable)),
        Row("from the future", Case(fetched: 1, kid: "one", step: .fetch)),
        Row("from far in the future", Case(fetched: .max / 2, step: .fetch)),
        Row("from the future, offline", Case(fetched: 1, source: .cache, step: .useStale)),
        Row("a pause of a year", Case(fetched: -3600, paused: 31_536_000, step: .fetch)),
    ]

    @Test(arguments: table)
    func `the decision depends on the age of the set, the pause and the query`(_ row: Row<Case>)
        throws
    {
        let it = row.value
        let cache = try Self.cache(fetched: it.fetched, paused: it.paused)
        let query = Self.query(it.kid, asked: it.asked, from: it.source)
        #expect(cache.step(for: query, at: Self.now) == it.step)
    }

    @Test func `no combination of times traps`() throws {
        let edges = [Int.min, -1, 0, 1, Int.max].map { NumericDate($0) }
        let file = try Self.cache(fetched: 0, paused: 0).bytes(for: .apple)
        for edge in edges {
            let text = String(decoding: file, as: UTF8.self).split(separator: "1800000000")
                .joined(separator: "\(edge.seconds)")
            let cache = try #require(KeySetCache(Array(text.utf8), for: .apple))
            for now in edges {
                for asked in edges {
                    let step = cache.step(for: .init(holding: "two", askedAt: asked), at: now)
                    #expect(step != .use)
                }
            }
        }
    }
}
