import SIWACrypto
import Testing

@testable import SIWAJOSE
@testable import SIWALifecycle

/// What a fetch leaves behind.
@Suite struct KeySetCacheFetchTests {
    private let now = KeySetCacheTests.now

    private func set(_ ids: String...) throws -> KeySet {
        try #require(KeySetTests.set(ids.map { KeySetTests.key(["kid": .string($0)]) }))
    }

    @Test func `after the requested key is fetched, there is no pause`() throws {
        var cache = try KeySetCacheTests.cache(fetched: -9, paused: 0)
        cache.adopt(try set("one", "two"), for: KeySetCacheTests.query("two"), at: now)
        #expect(cache.pausedUntil == nil && cache.isFresh(at: now) && cache.holds("two"))
    }

    @Test(arguments: [
        (KeySetCache.commandPause, [0, 60, 120, 180, 240, 300, 360, 420, 480]),
        (KeySetCache.servicePause, Array(stride(from: 0, to: 500, by: 10))),
    ]) func `ten thousand forged tokens cause one fetch for each pause`(
        _ pause: Duration, _ expected: [Int]
    ) throws {
        var cache = KeySetCache(pause: pause)
        let set = try set("one")
        var fetches: [Int] = []
        for number in 0..<10_000 {
            let moment = now + .seconds(number / 20)
            let query = KeySetQuery(holding: "forged\(number)", askedAt: moment)
            guard cache.step(for: query, at: moment) == .fetch else { continue }
            fetches.append(number / 20)
            cache.adopt(set, for: query, at: moment)
        }
        #expect(fetches == expected)
    }

    @Test func `a failed fetch causes a pause and keeps the key set`() throws {
        var cache = try KeySetCacheTests.cache(fetched: -9999)
        cache.note(failure(left: false), at: now)
        #expect(cache.pausedUntil == now + .seconds(60))
        #expect(cache.holds("one") && !cache.isFresh(at: now))
    }

    @Test func `without a key set, only a request that was sent causes a pause`() throws {
        var cache = KeySetCache()
        cache.note(failure(left: false), at: now)
        let next = KeySetQuery(holding: nil, askedAt: now)
        #expect(cache.step(for: next, at: now) == .fetch, "the network may have been repaired")
        let waiting = KeySetCacheTests.query(asked: -1)
        #expect(cache.step(for: waiting, at: now) == .unavailable, "it shares the failure")
        cache.note(failure(left: true), at: now)
        #expect(cache.step(for: next, at: now) == .unavailable)
    }

    @Test(arguments: [TransportError.Kind.cancelled, .timeout])
    func `a cancelled fetch changes nothing`(_ kind: TransportError.Kind) throws {
        let query = KeySetCacheTests.query("two", asked: -1)
        for (fetched, paused) in [(nil, nil), (-9999, nil), (-9999, -5)] as [(Int?, Int?)] {
            var cache = try KeySetCacheTests.cache(fetched: fetched, paused: paused)
            let before = cache.pausedUntil
            cache.note(failure(kind, left: true), at: now)
            #expect(cache.pausedUntil == before && cache.step(for: query, at: now) == .fetch)
        }
    }

    @Test func `changes are listed by kid, sorted`() throws {
        var cache = KeySetCache()
        #expect(cache.change(to: try set("b", "a")).isEmpty, "the first set changes nothing")
        cache.adopt(try set("b", "a", "c"), for: KeySetCacheTests.query(), at: now)
        #expect(cache.change(to: try set("c", "a", "b")).isEmpty, "order means nothing")
        let change = cache.change(to: try set("e", "a", "d"))
        #expect(change.added == ["d", "e"] && change.withdrawn == ["b", "c"])
        let other = KeySetTests.key(["kid": "a", "n": .string(KeySetTests.modulus(2))])
        let replaced = cache.change(to: try #require(KeySetTests.set([other])))
        #expect(replaced.added == ["a"] && replaced.withdrawn == ["a", "b", "c"])
    }

    @Test func `the time a key was first seen is kept, withdrawn or not`() throws {
        var cache = KeySetCache()
        for (number, ids) in [["a"], ["b"], ["a", "c"]].enumerated() {
            let keys = ids.map { KeySetTests.key(["kid": .string($0)]) }
            let moment = now + .seconds(number)
            cache.adopt(
                try #require(KeySetTests.set(keys)), for: KeySetCacheTests.query(), at: moment)
        }
        #expect(cache.firstSeen == ["a": now, "b": now + .seconds(1), "c": now + .seconds(2)])
    }

    @Test func `the newest hundred former keys are kept`() throws {
        var cache = KeySetCache()
        for number in 0..<150 {
            let moment = now + .seconds(number)
            cache.adopt(try set("k\(number)"), for: KeySetCacheTests.query(), at: moment)
        }
        #expect(Set(cache.firstSeen.keys) == Set((49..<150).map { "k\($0)" }))
    }

    private func failure(
        _ kind: TransportError.Kind = .connect, left: Bool
    ) -> TokenFailure {
        TokenFailure(
            cause: .unreachable(TransportError(kind, "", requestMayHaveLeft: left)),
            request: .keySet, attempts: 1, clockOffset: nil, isOutcomeUnknown: false)
    }
}
