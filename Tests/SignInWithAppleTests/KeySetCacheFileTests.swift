import SIWAJOSE
import SIWALifecycle
import Testing

/// The file in which the cache is kept.
@Suite struct KeySetCacheFileTests {
    private static let good = #"{"base_url":"https://appleid.apple.com","first_seen":{}"#

    @Test func `a written cache is read back`() throws {
        var cache = KeySetCache()
        let set = try #require(KeySetTests.set([KeySetTests.key(), 7]))
        cache.adopt(set, for: KeySetCacheTests.query("two"), at: KeySetCacheTests.now)
        let again = try #require(KeySetCache(cache.bytes(for: .apple), for: .apple))
        #expect(again.held?.keySet.keys == set.keys && again.held?.keySet.ignored == set.ignored)
        #expect(again.held?.fetchedAt == KeySetCacheTests.now)
        #expect(again.firstSeen == ["one": KeySetCacheTests.now])
        #expect(again.pausedUntil == KeySetCacheTests.now + .seconds(60))
        #expect(again.bytes(for: .apple) == cache.bytes(for: .apple))
    }

    @Test func `an empty cache is read back`() throws {
        let cache = try #require(KeySetCache(KeySetCache().bytes(for: .apple), for: .apple))
        #expect(cache.held == nil && cache.pausedUntil == nil && cache.firstSeen.isEmpty)
    }

    @Test func `keys of another origin are not used`() throws {
        let emulator = try BaseURL(validating: "https://localhost:9443")
        let file = try KeySetCacheTests.cache(fetched: 0).bytes(for: .apple)
        #expect(KeySetCache(file, for: .apple) != nil)
        #expect(KeySetCache(file, for: emulator) == nil)
    }

    @Test func `a file that is truncated anywhere is damaged`() throws {
        let file = try KeySetCacheTests.cache(fetched: 0, paused: 1).bytes(for: .apple)
        for count in 0..<file.count - 1 {
            #expect(KeySetCache(Array(file.prefix(count)), for: .apple) == nil)
        }
    }

    static let damaged = [
        "", "{}", "[]", "null", good, good + "}}", good + #","more":1}"#,
        good + #","fetched_at":1}"#, good + #","key_set":{"keys":[]}}"#,
        good + #","fetched_at":1,"key_set":{"keys":[]}}"#,
        good + #","paused_until":"1"}"#, good + #","paused_until":null}"#,
        good + #","paused_until":1.5}"#,
        #"{"base_url":"https://appleid.apple.com","first_seen":{"a":"b"}}"#,
        #"{"base_url":"https://appleid.apple.com","first_seen":[]}"#,
        #"{"base_url":"https://appleid.apple.com"}"#, #"{"first_seen":{}}"#,
    ]

    @Test(arguments: damaged) func `an invalid file is damaged`(_ text: String) {
        #expect(KeySetCache(Array(text.utf8), for: .apple) == nil)
        #expect(KeySetCache(Array((Self.good + "}").utf8), for: .apple) != nil)
    }

    @Test(arguments: [#""1""#, "null", "1.5", "1e3"]) func `a file with an invalid time is damaged`(
        _ time: String
    )
        throws
    {
        let file = String(
            decoding: try KeySetCacheTests.cache(fetched: 0).bytes(for: .apple), as: UTF8.self)
        let text = file.split(separator: "1800000000").joined(separator: time)
        #expect(text != file && KeySetCache(Array(text.utf8), for: .apple) == nil)
    }
}
