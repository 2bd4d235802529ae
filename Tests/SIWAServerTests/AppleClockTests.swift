import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import Testing

@testable import SIWAApplication
@testable import SIWAServer

/// How a process knows Apple's time although its own clock may be wrong.
@Suite struct AppleClockTests {
    private let apple = FakeApple()
    private let log = LogRecorder()
    private let clock: AppleClock

    init() {
        clock = AppleClock(apple.clocks, log: { [log] in log.add($0) })
    }

    /// An Apple whose clock differs from this machine's, and which can be unreachable.
    private final class FakeApple: Transport {
        let elapsed = Mutable(Duration.seconds(1000))
        let machine = Mutable(NumericDate(1_800_000_000))
        let offset = Mutable(Duration.zero)
        let isReachable = Mutable(true)
        let fields = Mutable<[HTTPField]>([])
        let roundTrip = Mutable(Duration.zero)
        let requests = Mutable(0)

        var clocks: Clocks {
            let (machine, elapsed) = (machine, elapsed)
            return Clocks(
                now: { machine.value },
                timekeeper: Timekeeper(elapsed: { elapsed.value }, sleep: { _ in }))
        }

        /// Lets time pass, on both clocks.
        func pass(_ time: Duration) {
            elapsed.value += time
            machine.value = machine.value + time
        }

        func send(
            _ request: HTTPRequest, timeout: Duration
        ) async throws(TransportError) -> HTTPResponse {
            requests.value += 1
            guard isReachable.value else {
                throw TransportError(.connect, "unreachable", requestMayHaveLeft: false)
            }
            pass(roundTrip.value / 2)
            let date = machine.value + offset.value
            pass(roundTrip.value / 2)
            return HTTPResponse(
                status: 503, fields: [HTTPField("Date", date.httpDate)] + fields.value)
        }
    }

    private func client() throws -> ProfileClient {
        let id = ClientID(unchecked: "com.example.app")
        let team = TeamID(unchecked: "A1B2C3D4E5")
        return ProfileClient(
            name: "app", teamID: team,
            secrets: Client(
                teamID: team, clientID: id,
                signingKey: SigningKey(
                    try P256PrivateKey.generate(), id: KeyID(unchecked: "K1L2M3N4P5"))),
            audiences: [id.rawValue], transport: clock.measuring(apple), clocks: apple.clocks)
    }

    @Test(arguments: [-3600, -120, 75, 120, 3600])
    func `the Date of any response from Apple is used for an hour`(_ offset: Int) async throws {
        #expect(!clock.isKnown && clock.skew == nil && clock.times.apple.isEmpty)
        apple.offset.value = .seconds(offset)
        await clock.ask(as: try client())
        #expect(clock.skew == .seconds(offset))
        apple.pass(.seconds(3599))
        let now = apple.machine.value
        #expect(clock.times == TokenTimes(now, apple: now + .seconds(offset)))
        apple.pass(.seconds(1))
        #expect(
            !clock.isKnown && clock.skew == nil && clock.times == TokenTimes(apple.machine.value))
    }

    @Test func `a corrected clock is recognised immediately`() async throws {
        apple.offset.value = .seconds(120)
        await clock.ask(as: try client())
        apple.machine.value = apple.machine.value + .seconds(120)
        #expect(clock.skew == .zero)
    }

    @Test func `responses of caches and slow responses are not used`() async throws {
        let transport = clock.measuring(apple)
        let request = HTTPRequest(method: .get, url: "https://appleid.apple.com/auth/keys")
        apple.fields.value = [HTTPField("Age", "17")]
        _ = try await transport.send(request, timeout: .seconds(30))
        apple.fields.value = []
        apple.roundTrip.value = .seconds(6)
        _ = try await transport.send(request, timeout: .seconds(30))
        #expect(!clock.isKnown)
        apple.roundTrip.value = .seconds(4)
        _ = try await transport.send(request, timeout: .seconds(30))
        #expect(clock.skew == .zero)
    }

    @Test func `Apple is asked once a minute, regardless of the number of callers`() async throws {
        apple.isReachable.value = false
        let client = try client()
        for _ in 1...3 {
            await withTaskGroup { group in
                for _ in 1...50 { group.addTask { await clock.ask(as: client) } }
            }
        }
        #expect(apple.requests.value == 1 && !clock.isKnown)
        apple.pass(.seconds(59))
        await clock.ask(as: client)
        #expect(apple.requests.value == 1)
        apple.isReachable.value = true
        apple.pass(.seconds(1))
        await clock.ask(as: client)
        #expect(apple.requests.value == 2 && clock.isKnown)
    }

    @Test func `a task that waits for Apple's time is woken when it is known`() async throws {
        let signal = WakeSignal()
        clock.notify(signal)
        let client = try client()
        await clock.ask(as: client)
        #expect(signal.count == 1)
        apple.pass(.seconds(61))
        await clock.ask(as: client)
        #expect(signal.count == 1)
        apple.pass(.seconds(3601))
        await clock.ask(as: client)
        #expect(signal.count == 2)
    }

    @Test func `the log reports when the clock becomes wrong and when it is correct again`()
        async throws
    {
        let transport = clock.measuring(apple)
        for offset in [5, 6, 75, -6, -5, 0] {
            apple.offset.value = .seconds(offset)
            _ = try await transport.send(
                HTTPRequest(method: .get, url: "https://appleid.apple.com/"), timeout: .seconds(9))
        }
        #expect(log.names == ["clock_wrong", "clock_right"])
    }

    // MARK: Payloads that wait

    private func token(issuedAt: NumericDate) throws -> CompactJWS {
        let claims: JSON = ["iat": .integer(issuedAt.seconds)]
        return try CompactJWS(
            "\(Base64URL.encode(Array("{}".utf8))).\(Base64URL.encode(claims.bytes)).AA")
    }

    @Test func `a receipt is compared in Apple's time, even if the clock is set in between`()
        async throws
    {
        apple.offset.value = .seconds(120)
        let (stored, receivedAt) = (apple.machine.value, apple.elapsed.value)
        let truth = stored + .seconds(120)
        let token = try token(issuedAt: truth)
        #expect(
            clock.receipt(of: token, storedAs: stored, at: receivedAt) == TokenTimes(stored))
        apple.pass(.seconds(600))
        apple.machine.value = apple.machine.value + .seconds(120)
        apple.offset.value = .zero
        await clock.ask(as: try client())
        #expect(
            clock.receipt(of: token, storedAs: stored, at: receivedAt)
                == TokenTimes(stored, apple: truth))
    }

    @Test func `an event that another process received was issued at most seven days before`()
        async throws
    {
        await clock.ask(as: try client())
        let now = apple.machine.value
        let day = Duration.seconds(86_400)
        func moments(_ stored: NumericDate, issuedAt: NumericDate) throws -> [NumericDate] {
            clock.receipt(of: try token(issuedAt: issuedAt), storedAs: stored, at: nil).apple
        }
        let slow = now - .seconds(120)
        #expect(try moments(slow, issuedAt: now) == [slow, now])
        #expect(try moments(slow, issuedAt: now + .seconds(1)) == [slow])
        #expect(try moments(slow, issuedAt: now - day * 7) == [slow, now - day * 7])
        #expect(try moments(slow, issuedAt: now - day * 7 - .seconds(1)) == [slow])
        // A clock that was fast: it was received by now.
        #expect(try moments(now + day, issuedAt: now - day) == [now, now - day])
    }
}
