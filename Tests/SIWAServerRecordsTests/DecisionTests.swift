import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
import SIWAVaultRecords
import Testing

/// When an attempt is repeated, and when it is abandoned.
@Suite struct BackoffTests {
    @Test func `waiting times double from a second to an hour until the time is over`() throws {
        for (backoff, days) in [(Backoff.delivery, 7), (.revocation, 30)] {
            for jitter in [0, 0.5, 0.999_999] {
                var (age, attempts, last) = (Duration.zero, 0, Duration.zero)
                while let delay = backoff.delay(after: attempts + 1, age: age, jitter: jitter) {
                    #expect(delay >= .seconds(1) && delay <= .seconds(3600))
                    #expect(delay >= last)
                    if attempts < 11, attempts > 0 { #expect(delay >= last * 1.9) }
                    (age, attempts, last) = (age + delay, attempts + 1, delay)
                }
                #expect(age >= .seconds(days * 86_400))
                #expect(age <= .seconds(days * 86_400 + 3600))
                #expect(attempts > days * 24 && attempts < days * 40)
            }
        }
    }

    @Test func `a Retry-After is obeyed, up to an hour`() {
        func delay(_ seconds: Int, attempts: Int = 1) -> Duration? {
            Backoff.delivery.delay(
                after: attempts, age: .zero, retryAfter: .seconds(seconds), jitter: 0)
        }
        #expect(delay(120) == .seconds(120))
        #expect(delay(0) == .seconds(1))
        #expect(delay(-5) == .seconds(1))
        #expect(delay(60, attempts: 12) == .seconds(2048))
        #expect(delay(3601) == .seconds(3600))
        #expect(delay(1_000_000) == .seconds(3600))
    }

    @Test(arguments: [Int.min, -1, 0, 1, 12, 13, 64, .max])
    func `any number of attempts has a waiting time`(_ attempts: Int) throws {
        let delay = try #require(
            Backoff.revocation.delay(after: attempts, age: .zero, jitter: 2))
        #expect(delay >= .seconds(1) && delay <= .seconds(3600))
    }

    @Test func `a failed delivery is repeated for seven days`() throws {
        func next(_ age: Duration) throws -> DeliveryOutcome.Next {
            let id = try #require(EventID("a"))
            let delivery = DueDelivery(id: id, body: [], attempts: 3, age: age)
            return DeliveryOutcome.failed(delivery, "no", jitter: 0).next
        }
        #expect(try next(.seconds(60)) == .retry(after: .seconds(8)))
        #expect(try next(.seconds(604_799)) == .retry(after: .seconds(8)))
        #expect(try next(.seconds(604_800)) == .dead)
    }
}

/// The answer to a request for a known code.
@Suite struct CodeJournalTests {
    private func request(
        client: String = "com.example.app", isClientGiven: Bool = true, verifier: String? = nil,
        redirectURI: String? = "https://example.com/cb", nonce: String? = "n",
        isStoring: Bool = true, requiresSameParameters: Bool = true
    ) throws -> CodeRequest {
        try CodeRequest(
            AuthorizationCode(SecretText("code")), clientID: ClientID(unchecked: client),
            isClientGiven: isClientGiven,
            verifier: verifier.map { CodeVerifier(SecretText($0)) }, redirectURI: redirectURI,
            nonce: nonce, isStoring: isStoring, requiresSameParameters: requiresSameParameters)
    }

    private func entry(
        _ state: CodeEntry.State, age: Duration = .zero, isLeased: Bool = false,
        answer: SealedSecret? = nil
    ) throws -> CodeEntry {
        CodeEntry(
            clientID: ClientID(unchecked: "com.example.app"),
            parameters: try request().parameters, state: state, age: age, isLeased: isLeased,
            answer: answer)
    }

    private let answer = SealedSecret(keyNumber: 1, bytes: [1, 2, 3])

    @Test func `a code is never sent again`() throws {
        let request = try request()
        #expect(try entry(.sent, isLeased: true).decision(about: request) == .wait)
        #expect(try entry(.sent).decision(about: request) == .mayBeSpent)
        #expect(try entry(.unanswered).decision(about: request) == .mayBeSpent)
        let client = ClientID(unchecked: "com.example.app")
        func answered(_ seconds: Int) throws -> CodeDecision {
            try entry(.answered, age: .seconds(seconds), answer: answer).decision(about: request)
        }
        #expect(try answered(0) == .replay(answer, client))
        #expect(try answered(599) == .replay(answer, client))
        #expect(try answered(600) == .alreadySent)
        #expect(try entry(.answered).decision(about: request) == .alreadySent)
    }

    @Test func `a repeat needs the same parameters and client`() throws {
        let known = try entry(.answered, answer: answer)
        let others = [
            try request(verifier: "v"), try request(verifier: ""), try request(redirectURI: nil),
            try request(nonce: "other"), try request(nonce: nil), try request(isStoring: false),
            try request(client: "other"),
            try request(redirectURI: "n", nonce: "https://example.com/cb"),
        ]
        for other in others { #expect(known.decision(about: other) == .conflict) }
        let same = try request(client: "other", isClientGiven: false)
        #expect(known.decision(about: same) != .conflict)
        #expect(Set(others.dropLast(2).map(\.parameters)).count == 6)
    }

    @Test func `a revocation uses the answer to any request with its code`() throws {
        let known = try entry(.answered, answer: answer)
        for isStoring in [true, false] {
            let request = try request(
                nonce: nil, isStoring: isStoring, requiresSameParameters: false)
            #expect(
                known.decision(about: request)
                    == .replay(answer, ClientID(unchecked: "com.example.app")))
        }
        let foreign = try request(client: "other", requiresSameParameters: false)
        #expect(known.decision(about: foreign) == .conflict)
    }
}

/// The states of the revocation of a token.
@Suite struct RevocationJobTests {
    private let now = NumericDate(1_790_000_000)

    private func job(_ proof: Revocation.Proof = .beforeAndAfterwards) throws -> RevocationJob {
        RevocationJob(
            number: 1, clientID: ClientID(unchecked: "com.example.app"), userID: nil,
            fingerprint: try #require(TokenFingerprint("0123456789ab")), kind: .refreshToken,
            proof: proof, createdAt: now, secret: SealedSecret(keyNumber: 1, bytes: [1]))
    }

    @Test func `a job ends when the token is dead, and its token is erased`() throws {
        var job = try job()
        let revocation = Revocation(
            status: 200, wasActive: true, evidence: .acceptedThenRejected, refreshStatus: 400,
            requestID: "r")
        let hasEnded = job.end(revocation, at: now)
        #expect(hasEnded)
        #expect(job.state == .revoked && job.secret == nil && job.endedAt == now)
        #expect(job.progress.evidence == .acceptedThenRejected)
        #expect(job.progress.isDead && job.progress.isConfirmed)
    }

    @Test func `a token that still works is revoked again`() throws {
        var job = try job()
        let revocation = Revocation(status: 200, wasActive: true, evidence: .refreshAccepted)
        let hasEnded = job.end(revocation, at: now)
        #expect(!hasEnded)
        #expect(job.state == .pending && job.secret != nil)
        let proof = RevocationProof(job.proof, after: job.progress)
        #expect(proof.step == .revoke)
    }

    @Test func `a failed job is repeated for 30 days, then it is dead and keeps its token`() throws
    {
        var job = try job()
        let first = job.fail(.init("http", "HTTP 503"), age: .zero, jitter: 0, at: now)
        let second = job.fail(.init("http", "HTTP 503"), age: .seconds(1), jitter: 0, at: now)
        #expect(first == .seconds(1) && second == .seconds(2))
        #expect(
            job.attempts == 2 && job.lastError == .init("http", "HTTP 503") && job.state == .pending
        )
        let last = job.fail(.init("http", "HTTP 503"), age: .seconds(2_592_000), jitter: 0, at: now)
        #expect(last == nil)
        #expect(job.state == .dead && job.secret != nil && job.endedAt == now)
    }

    @Test func `the outcome of a code without an answer is unknown`() throws {
        var job = try job()
        job.kind = .code
        job.loseCode(at: now)
        #expect(job.state == .unknown && job.secret == nil && job.lastError == nil)
    }

    /// Alerts count dead revocations; callers must not be able to raise them with a wrong code.
    @Test func `a refused code has an unknown outcome, and is dead only if the operator must act`()
        throws
    {
        for (isDead, state) in [(false, RevocationJob.State.unknown), (true, .dead)] {
            var job = try job()
            job.kind = .code
            job.refuseCode(.init("invalid_grant", "no"), isDead: isDead, at: now)
            #expect(job.state == state && job.secret == nil)
            #expect(job.lastError == .init("invalid_grant", "no") && job.endedAt == now)
        }
    }

    @Test func `a stronger proof is possible while nothing was sent`() throws {
        var weak = try job(.none)
        weak.join(.afterwards)
        #expect(weak.proof == .afterwards)
        weak.join(.none)
        #expect(weak.proof == .afterwards)
        weak.join(.beforeAndAfterwards)
        #expect(weak.proof == .beforeAndAfterwards)
        var begun = try job(.none)
        begun.progress.wasActive = true
        begun.join(.beforeAndAfterwards)
        #expect(begun.proof == .none)
    }

    @Test func `a proof continues where a crash interrupted it`() {
        func step(_ proof: Revocation.Proof, _ progress: Revocation) -> RevocationProof.Step {
            RevocationProof(proof, after: progress).step
        }
        #expect(step(.beforeAndAfterwards, Revocation()) == .refreshBefore)
        #expect(step(.beforeAndAfterwards, Revocation(wasActive: true)) == .revoke)
        #expect(
            step(.beforeAndAfterwards, Revocation(status: 200, wasActive: true)) == .refreshAfter)
        #expect(step(.afterwards, Revocation()) == .revoke)
        #expect(step(.afterwards, Revocation(status: 200)) == .refreshAfter)
        #expect(step(.none, Revocation()) == .revoke)
    }

    @Test func `a request is finished when all of its jobs are`() {
        #expect(RevocationJob.State.of([.revoked, .pending, .dead]) == .pending)
        #expect(RevocationJob.State.of([.revoked, .unknown, .dead]) == .dead)
        #expect(RevocationJob.State.of([.revoked, .unknown]) == .unknown)
        #expect(RevocationJob.State.of([.revoked]) == .revoked)
    }
}

/// The id of an event.
@Suite struct EventIDTests {
    @Test func `a jti that is valid in a header field is the id of its event`() throws {
        #expect(try EventID(jti: "a-1", payload: [1]).rawValue == "a-1")
        let digest = "sha256-4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"
        for jti in [nil, "", "a b", "é", "a\r\nb", "\0", String(repeating: "a", count: 256)] {
            #expect(try EventID(jti: jti, payload: [1]).rawValue == digest)
        }
    }

    @Test func `no notification has the id of an unverified payload`() throws {
        let unverified = try EventID(unverified: [1])
        #expect(try EventID(jti: unverified.rawValue, payload: [2]) != unverified)
    }
}

/// How long things are kept.
@Suite struct RetentionTests {
    @Test func `unfinished work is never deleted`() {
        let retention = Retention(events: .seconds(5))
        #expect(retention.duration(of: .pending) == nil)
        #expect(retention.duration(of: .unverified) == nil)
        #expect(retention.duration(of: .dead) == .seconds(90 * 86_400))
        for state in [InboxState.done, .discarded, .none, .rejected] {
            #expect(retention.duration(of: state) == .seconds(5))
        }
    }
}
