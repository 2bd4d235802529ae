import SIWALifecycle
import SIWAServerRecords
import Testing

/// How many deliveries may begin.
@Suite struct DeliveryPlacesTests {
    private var places = DeliveryPlaces()
    private let limit = 256

    /// Begins as many first attempts as there is room for.
    private mutating func fill(_ now: Duration, isRetry: Bool = false) -> [DeliveryPlaces.Ticket] {
        let room = places.room(at: now, limit: limit)
        return (0..<(isRetry ? room.retries : room.firstAttempts)).map { _ in
            places.begin(isRetry: isRetry, at: now)
        }
    }

    @Test mutating func `places are reserved for first attempts and for retries`() {
        let room = places.room(at: .zero, limit: limit)
        #expect(room == DeliveryRoom(firstAttempts: 12, retries: 8, total: 16))
        #expect(fill(.zero, isRetry: true).count == 8)
        #expect(
            places.room(at: .zero, limit: limit)
                == DeliveryRoom(firstAttempts: 8, retries: 0, total: 8))
        #expect(fill(.zero).count == 8)
        #expect(places.room(at: .zero, limit: limit).isEmpty)
        places = DeliveryPlaces()
        #expect(fill(.zero).count == 12)
        #expect(
            places.room(at: .zero, limit: limit)
                == DeliveryRoom(firstAttempts: 0, retries: 4, total: 4))
    }

    @Test mutating func `an attempt holds its place for at most 100 ms`() {
        _ = fill(.zero)
        #expect(places.nextRelease(after: .zero) == .milliseconds(100))
        #expect(places.room(at: .milliseconds(99), limit: limit).firstAttempts == 0)
        #expect(places.room(at: .milliseconds(100), limit: limit).firstAttempts == 12)
        #expect(places.nextRelease(after: .milliseconds(100)) == nil)
    }

    @Test mutating func `an attempt releases its place when it ends`() throws {
        let tickets = fill(.zero)
        places.end(try #require(tickets.first), isAccepted: true, at: .milliseconds(1))
        places.end(try #require(tickets.first), isAccepted: true, at: .milliseconds(1))
        #expect(places.room(at: .milliseconds(1), limit: limit).firstAttempts == 1)
    }

    @Test mutating func `the limit of unfinished attempts holds, and both kinds can always start`()
    {
        var (now, begun) = (Duration.zero, 0)
        for _ in 0..<100 {
            begun += fill(now).count
            now += .milliseconds(100)
        }
        #expect(begun == limit - 4)
        #expect(
            places.room(at: now, limit: limit)
                == DeliveryRoom(firstAttempts: 0, retries: 4, total: 4))
        for _ in 0..<4 { _ = places.begin(isRetry: true, at: now) }
        #expect(places.room(at: now + .seconds(1), limit: limit).isEmpty)
    }

    @Test(arguments: DeliveryPlaces.limits.prefix(20))
    mutating func `both kinds can start at every limit`(_ limit: Int) {
        let room = places.room(at: .zero, limit: limit)
        #expect(room.total == min(limit, 16) && room.firstAttempts > 0 && room.retries > 0)
    }

    @Test mutating func `an application that is slow for all users gets at most sixteen attempts`()
    {
        var now = Duration.zero
        var hanging: [DeliveryPlaces.Ticket] = []
        while hanging.count < 64 {
            hanging += fill(now)
            now += .milliseconds(100)
        }
        #expect(!places.isSlowForEverybody)
        for ticket in hanging.prefix(64) {
            places.end(ticket, isAccepted: true, at: now + .seconds(6))
        }
        for ticket in hanging.dropFirst(64) {
            places.end(ticket, isAccepted: false, at: now + .seconds(6))
        }
        #expect(places.isSlowForEverybody)
        now += .seconds(7)
        let retries = fill(now, isRetry: true)
        #expect(retries.count == 8)
        #expect(places.room(at: now + .seconds(60), limit: limit).retries == 0)
        #expect(places.room(at: now + .seconds(60), limit: limit).firstAttempts == 8)
        #expect(places.nextRelease(after: now) == nil)
        // One that is accepted in time shows that it is not slow for everybody.
        let ticket = places.begin(isRetry: false, at: now)
        places.end(ticket, isAccepted: true, at: now + .milliseconds(1))
        #expect(!places.isSlowForEverybody)
        #expect(places.room(at: now + .seconds(60), limit: limit).retries == 8)
    }
}
