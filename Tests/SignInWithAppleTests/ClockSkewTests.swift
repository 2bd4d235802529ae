import SIWAJOSE
import SIWALifecycle
import Testing

/// Apple's clock, as its answers show it.
@Suite struct ClockSkewTests {
    private static let date = NumericDate(1_800_000_000)

    private func measured(
        _ fields: [HTTPField] = [HTTPField("Date", date.httpDate)], status: Int = 200,
        sentAt: Duration = .seconds(100), took roundTrip: Duration = .seconds(4)
    ) -> ClockSkew? {
        ClockSkew(
            HTTPResponse(status: status, fields: fields), sentAt: sentAt,
            answeredAt: sentAt + roundTrip)
    }

    @Test func `Date is Apple's time in the middle of the request`() throws {
        let skew = try #require(measured())
        #expect(skew.time(at: .seconds(102)) == Self.date)
        #expect(skew.time(at: .seconds(112)) == Self.date + .seconds(10))
        #expect(skew.time(at: .seconds(2)) == Self.date - .seconds(100))
        #expect(skew.time(at: .milliseconds(102_900)) == Self.date)
        #expect(skew.time(at: .milliseconds(101_900)) == Self.date - .seconds(1))
    }

    @Test func `a refused request measures the time as well`() {
        #expect(measured(status: 503) != nil)
    }

    @Test func `responses of caches, slow responses and those without a date measure nothing`() {
        let date = HTTPField("Date", Self.date.httpDate)
        #expect(measured([date, HTTPField("age", "0")]) == nil)
        #expect(measured([]) == nil)
        for text in ["", "now", "Fri, 15 Jan 2027 08:00:00 CET", "1800000000"] {
            #expect(measured([HTTPField("Date", text)]) == nil, "\(text)")
        }
        #expect(measured(took: .milliseconds(4999)) != nil)
        #expect(measured(took: .seconds(5)) == nil)
        #expect(measured(took: .seconds(-1)) == nil)
    }

    @Test func `a measurement is used for an hour`() throws {
        let skew = try #require(measured())
        #expect(skew.isFresh(at: .seconds(104 + 3599)) && !skew.isFresh(at: .seconds(104 + 3600)))
    }

    @Test func `a difference of more than five seconds is a wrong clock`() {
        #expect(
            [-6, -5, 0, 5, 6].map { Duration.seconds($0).isWrongClock } == [
                true, false, false, false, true,
            ])
        #expect(Duration.seconds(75).clockDifference == "1 minute 15 seconds behind Apple's")
        #expect(Duration.seconds(-120).clockDifference == "2 minutes ahead of Apple's")
    }
}

/// Times pass if they pass by this machine's clock or by Apple's.
@Suite struct TokenTimesTests {
    /// Which of the times a token fails at which moment.
    private func verification(
        _ times: TokenTimes, issued: Int, lifetime: Int = 600, leeway: Duration = .seconds(60),
        without missing: String? = nil
    ) throws -> IdentityTokenVerification {
        let members: [JSON.Member] = [
            .init("sub", "user"), .init("aud", "com.example.app"),
            .init("iss", "https://appleid.apple.com"),
            .init("iat", .integer(Example.now.seconds + issued)),
            .init("exp", .integer(Example.now.seconds + issued + lifetime)),
        ]
        let claims = JSON.object(members.filter { $0.name != missing })
        let header: JSON = ["alg": "RS256", "kid": "unknown"]
        let token = try CompactJWS(
            [header.bytes, claims.bytes, [1]].map { Base64URL.encode($0) }.joined(separator: "."))
        let verifier = TokenVerifier(
            keySet: nil, audiences: ["com.example.app"], leeway: leeway, isReceivedFromApple: true)
        return times.judge { verifier.verify(identityToken: token, at: $0) }.verification
    }

    @Test(arguments: [-90_000, -3600, -120, -75, 0, 75, 120, 3600, 90_000])
    func `a genuine token is valid if either clock is right, and invalid if both are wrong`(
        _ offset: Int
    ) throws {
        let (right, wrong) = (Example.now, Example.now + .seconds(offset))
        #expect(try verification(TokenTimes(wrong, apple: right), issued: 0).isValid)
        #expect(try verification(TokenTimes(right, apple: wrong), issued: 0).isValid)
        #expect(try verification(TokenTimes(right, apple: nil), issued: 0).isValid)
        let both = try verification(TokenTimes(wrong, apple: wrong), issued: 0)
        #expect(both.isValid == ((-60...659).contains(offset)))
        #expect(try verification(TokenTimes(wrong, apple: wrong, right), issued: 0).isValid)
    }

    @Test func `all times of a token are compared with the same clock`() throws {
        // By one clock it is not issued yet, by the other it has expired.
        let times = TokenTimes(Example.now - .seconds(120), apple: Example.now + .seconds(900))
        let verification = try verification(times, issued: 0)
        #expect(verification.failures.map(\.subject) == [.issuedAt])
    }

    @Test func `a token is kept for later only if its times can become valid`() throws {
        let now = TokenTimes(Example.now)
        func mayPass(_ verification: IdentityTokenVerification, lifetime: Int = 600) throws -> Bool
        {
            verification.mayPassAtAnotherTime { moment in
                guard
                    let other = try? self.verification(
                        TokenTimes(moment), issued: 300, lifetime: lifetime,
                        without: verification.token?.claims.moment(.exp) == nil ? "exp" : nil)
                else { return verification }
                return other
            }
        }
        #expect(try mayPass(verification(now, issued: 300)))
        #expect(try !mayPass(verification(now, issued: 0)))
        #expect(try !mayPass(verification(now, issued: 300, without: "exp")))
        #expect(try !mayPass(verification(now, issued: 300, without: "iat")))
        #expect(try !mayPass(verification(now, issued: 300, lifetime: -900), lifetime: -900))
    }
}
