import SIWACrypto
import SIWADiagnosis
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@Suite struct GivenClientSecretTests {
    static let later = Example.now + .seconds(600)

    static func text(
        for client: ClientID = Example.clientID, _ spoil: (inout SecretDraft) -> Void = { _ in }
    ) throws -> SecretText {
        var draft = SecretDraft(
            client.rawValue, of: Example.teamID, under: Example.keyID, at: Example.now)
        spoil(&draft)
        return SecretText(try draft.minted(by: Example.privateKey()))
    }

    static func read(
        _ text: SecretText, at now: NumericDate = Example.now
    ) throws(ClientSecretError) -> ClientSecret {
        try ClientSecret(
            given: text, for: Example.clientID, expecting: ExpectedClient(), at: now)
    }

    @Test func `a valid client_secret is read without its key`() throws {
        let secret = try Self.read(Self.text())
        #expect(secret.teamID == Example.teamID && secret.keyID == Example.keyID)
        #expect(secret.clientID == Example.clientID)
        #expect(secret.expiresAt == Example.now + .seconds(300))
        _ = try Self.read(Self.text { $0.claim("aud", ["https://appleid.apple.com"]) })
    }

    @Test func `a client_secret that Apple would refuse is refused with the reason`() throws {
        let spoilers: [(FindingCode, (inout SecretDraft) -> Void)] = [
            (.wrongAudience, { $0.claim("aud", "appstoreconnect-v1") }),
            (.milliseconds, { $0.claim("exp", .integer(Example.now.seconds * 1000)) }),
            (.derSignature, { $0.spoilSignature = { $0.derRepresentation } }),
            (.missingMember, { $0.claim("iat", nil) }),
            (.wrapped, { $0.spoilText = { "Bearer " + $0 } }),
        ]
        for (code, spoil) in spoilers {
            do {
                _ = try Self.read(Self.text(spoil))
                Issue.record("\(code) was accepted")
            } catch let error as ClientSecretError {
                guard case .unusable(let faults) = error else { throw error }
                #expect(faults.map(\.code) == [code])
            }
        }
        let other = try Self.text(for: ClientID(unchecked: "com.example.other"))
        #expect { try Self.read(other) } throws: { error in
            guard case ClientSecretError.unusable(let faults) = error else { return false }
            return faults.map(\.code) == [.wrongClient]
        }
    }

    @Test func `an expired client_secret is distinguished from an unusable one`() throws {
        let expiry = Example.now + .seconds(300)
        let text = try Self.text()
        #expect(throws: ClientSecretError.expired(expiry)) { try Self.read(text, at: expiry) }
    }

    @Test func `an expired client_secret is read again, once for each request`() throws {
        let newer = try ClientSecret(
            signedBy: Example.privateKey(), as: Example.keyID, for: Example.clientID,
            of: Example.teamID,
            at: Self.later, lifetime: .seconds(300))
        let reads = Mutex(0)
        let source = GivenClientSecret(try Self.read(Self.text())) { _ in
            reads.withLock { $0 += 1 }
            return newer
        }
        let first = try source.secret(for: Example.clientID, at: Example.now)
        #expect(first.text.revealed() == source.secret.text.revealed())
        #expect(reads.withLock { $0 } == 0)
        let second = try source.secret(for: Example.clientID, at: Self.later)
        #expect(second.text.revealed() == newer.text.revealed())
        #expect(reads.withLock { $0 } == 1)
        #expect(throws: ClientSecretError.expired(Example.now + .seconds(300))) {
            try source.secret(for: Example.clientID, at: Self.later + .seconds(3600))
        }
    }

    @Test func `a client_secret works for its own client only`() throws {
        let source = GivenClientSecret(try Self.read(Self.text()))
        let other = ClientID(unchecked: "com.example.other")
        #expect(throws: ClientSecretError.otherClient(other)) {
            try source.secret(for: other, at: Example.now)
        }
        #expect(throws: ClientSecretError.expired(Example.now + .seconds(300))) {
            try source.secret(for: Example.clientID, at: Self.later)
        }
    }

    @Test func `a batch sends one client_secret until it expires, then the newer one`() throws {
        let newer = try ClientSecret(
            signedBy: Example.privateKey(), as: Example.keyID, for: Example.clientID,
            of: Example.teamID,
            at: Self.later, lifetime: .seconds(300))
        let reads = Mutex(0)
        let source = GivenClientSecret(try Self.read(Self.text())) { _ in
            reads.withLock { $0 += 1 }
            return newer
        }
        var job = RefreshJob(source)
        var item = try TokenItem(SecretBytes("r0.0.abc".utf8), line: 1)
        for (now, secret) in [
            (Example.now, source.secret), (Example.now + .seconds(299), source.secret),
            (Self.later, newer), (Self.later + .seconds(1), newer),
        ] {
            let body = try job.request(for: &item, at: now).body
            let isSent = SecretText(body).revealed().contains(secret.text.revealed())
            #expect(isSent, "at \(now.rfc3339)")
        }
        #expect(reads.withLock { $0 } == 1)
    }
}
