import Foundation
import SIWATestSupport
import SignInWithApple
import SignInWithAppleCurl
import SignInWithAppleEmulator
import Testing

/// The library as a server uses it, over real sockets.
@Suite struct FacadeTests {
    @Test func `the client works as the README shows it`() async throws {
        try await Fixture.serving { fixture in
            let (pem, baseURL) = (fixture.apple.privateKey, fixture.url)
            let (nonce, code): (String?, String) = (
                "n-1", try await fixture.apple.signIn(nonce: "n-1").code
            )

            let apple = try SignInWithAppleClient(
                teamID: "A1B2C3D4E5", clientID: "com.example.app",
                key: ClientSecretKey(pem: pem, id: "K1L2M3N4P5"),
                transport: try CurlTransport(authorityFile: nil),
                baseURL: baseURL)
            let signIn = try await apple.exchange(code, nonce: nonce)
            let token = try #require(signIn.refreshToken)
            #expect(signIn.claims.email == "alice@example.com" && !signIn.claims.isPrivateEmail)
            #expect(signIn.userID == signIn.claims.userID && !signIn.userID.isEmpty)
            #expect(try #require(signIn.tokens.accessTokenExpiresAt) > Date())

            try await apple.refresh(token)
            let identityToken = try #require(signIn.tokens.identityToken)
            let claims = try await apple.verify(identityToken, nonce: nonce)
            #expect(claims.userID == signIn.userID && claims.expiresAt > claims.issuedAt)

            let proof = try await apple.revoke(token, proof: .beforeAndAfter)
            #expect(proof.evidence == .refreshAcceptedThenRejected)
            #expect(proof.isDead && proof.wasActive == true && proof.status == 200)

            let body = try await fixture.notification("consent-revoked")
            let event = try await apple.notification(body)
            #expect(event.kind == .consentRevoked && event.userID == signIn.userID)
            #expect(event.clientID == apple.clientID && event.id != nil)

            let secret = try await apple.clientSecret(lifetime: .seconds(300))
            #expect(secret.text.split(separator: ".").count == 3)
            #expect(abs(secret.expiresAt.timeIntervalSinceNow - 300) < 60)
        }
    }

    @Test(arguments: [
        (RevocationProofLevel.none, nil), (.confirm, RevocationResult.Evidence.refreshRejected),
    ])
    func `each proof returns what it can show`(
        _ level: RevocationProofLevel, _ evidence: RevocationResult.Evidence?
    ) async throws {
        try await Fixture.serving { fixture in
            let token = try #require(
                try await fixture.client.exchange(fixture.apple.signIn().code).refreshToken)
            let first = try await fixture.client.revoke(token, proof: level)
            #expect(first.evidence == evidence)
            #expect(first.isDead && first.wasActive == nil)
            let second = try await fixture.client.revoke(token)
            #expect(second.wasActive == false && second.status == nil && second.isDead)
            let failure = try await thrownError { () async throws(SignInWithAppleError) in
                try await fixture.client.refresh(token)
            }
            #expect(failure.kind == .grantRefused && failure.appleError == "invalid_grant")
            #expect(!failure.isRetryable && !failure.codeMayBeSpent && failure.status == 400)
        }
    }

    @Test func `a token that still works after its revocation is an error`() async throws {
        try await Fixture.serving { fixture in
            let token = try #require(
                try await fixture.client.exchange(fixture.apple.signIn().code).refreshToken)
            let spy = SpyTransport(fixture.apple.transport) { request in
                request.path == "/auth/revoke" ? TransportResponse(status: 200) : nil
            }
            let deaf = try Fixture.makeClient(fixture.apple, spy)
            for proof in [RevocationProofLevel.confirm, .beforeAndAfter] {
                let failure = try await thrownError { () async throws(SignInWithAppleError) in
                    try await deaf.revoke(token, proof: proof)
                }
                #expect(failure.kind == .notRevoked && failure.isRetryable)
                #expect(failure.status == 200)
            }
            #expect(try await fixture.client.revoke(token).isDead)
        }
    }

    @Test func `an access token can be revoked`() async throws {
        try await Fixture.serving { fixture in
            let signIn = try await fixture.client.exchange(fixture.apple.signIn().code)
            let result = try await fixture.client.revoke(accessToken: signIn.accessToken)
            #expect(result.evidence == nil && result.status == 200)
        }
    }

    @Test func `a wrong nonce throws an error that contains the tokens`() async throws {
        try await Fixture.serving { fixture in
            let code = try await fixture.apple.signIn(nonce: "right").code
            let failure = try await thrownError { () async throws(SignInWithAppleError) in
                try await fixture.client.exchange(code, nonce: "wrong")
            }
            #expect(failure.kind == .invalidIdentityToken && failure.codeMayBeSpent)
            #expect(!failure.isRetryable && failure.failedChecks.map(\.name) == ["nonce"])
            let token = try #require(failure.tokens?.refreshToken)
            #expect(try await fixture.client.revoke(token).evidence == .refreshAcceptedThenRejected)
            #expect(!"\(failure)".contains(token))
        }
    }

    @Test func `a second exchange and a wrong key are refused with different errors`() async throws
    {
        try await Fixture.serving { fixture in
            let code = try await fixture.apple.signIn().code
            try await fixture.client.exchange(code)
            let spent = try await thrownError { () async throws(SignInWithAppleError) in
                try await fixture.client.exchange(code)
            }
            #expect(spent.kind == .grantRefused && !spent.isRetryable && spent.tokens == nil)
            let other = try await InProcessApple()
            let stranger = try SignInWithAppleClient(
                teamID: fixture.apple.teamID, clientID: fixture.client.clientID,
                key: other.key, transport: try CurlTransport(), baseURL: fixture.url)
            let unused = try await fixture.apple.signIn().code
            let refused = try await thrownError { () async throws(SignInWithAppleError) in
                try await stranger.exchange(unused)
            }
            #expect(refused.kind == .clientRefused && refused.appleError == "invalid_client")
        }
    }

    @Test func `a refresh succeeds after an outage, and a code is sent once`() async throws {
        try await Fixture.serving { fixture in
            let token = try #require(
                try await fixture.client.exchange(fixture.apple.signIn().code).refreshToken)
            try await fixture.apple.control(
                "faults", #"{"endpoint": "/auth/token", "status": 503}"#)
            try await fixture.client.refresh(token)
            try await fixture.apple.control(
                "faults", #"{"endpoint": "/auth/token", "status": 500}"#)
            let code = try await fixture.apple.signIn().code
            let failure = try await thrownError { () async throws(SignInWithAppleError) in
                try await fixture.client.exchange(code)
            }
            #expect(failure.kind == .unavailable && failure.codeMayBeSpent && !failure.isRetryable)
            // The fault was used up by the one request: the code itself still works.
            try await fixture.client.exchange(code)
        }
    }

    @Test func `tokens of another app and forged tokens are invalid`() async throws {
        try await Fixture.serving { fixture in
            let signIn = try await fixture.client.exchange(fixture.apple.signIn().code)
            let token = try #require(signIn.tokens.identityToken)
            let other = try SignInWithAppleClient(
                teamID: fixture.apple.teamID, clientID: "com.example.other",
                key: fixture.apple.key, transport: CurlTransport(), baseURL: fixture.url)
            let failure1 = try await thrownError { () async throws(SignInWithAppleError) in
                try await other.verify(token)
            }
            #expect(failure1.failedChecks.map(\.name) == ["audience"])
            let accepting = try other.adding(
                clientID: fixture.client.clientID, teamID: fixture.apple.teamID,
                key: fixture.apple.key)
            #expect(try await accepting.verify(token).userID == signIn.userID)
            let parts = token.split(separator: ".")
            for forged in ["\(parts[0]).\(parts[1]).AAAA", "\(parts[1])", "", "a.b.c"] {
                let failure = try await thrownError { () async throws(SignInWithAppleError) in
                    try await fixture.client.verify(forged)
                }
                #expect(failure.kind == .invalidIdentityToken && !failure.isRetryable)
                let isToken = forged.hasSuffix(".AAAA")
                #expect(failure.failedChecks.map(\.name) == [isToken ? "signature" : "format"])
            }
            for body in ["", "{}", #"{"payload":"a.b.c"}"#, "payload=\(token)"] {
                let failure = try await thrownError { () async throws(SignInWithAppleError) in
                    try await fixture.client.notification(body)
                }
                #expect(failure.kind == .invalidNotification)
                #expect(failure.failedChecks.map(\.name) == ["format"])
            }
            let failure2 = try await thrownError { () async throws(SignInWithAppleError) in
                try await fixture.client.notification(#"{"payload":"\#(token)"}"#)
            }
            #expect(failure2.kind == .invalidNotification)
            #expect(failure2.failedChecks.map(\.name) == ["event"])
        }
    }
}

extension Fixture {
    /// The body of a notification about `alice`.
    func notification(_ type: String) async throws -> String {
        let answer = try await apple.control(
            "notifications", #"{"client_id": "\#(client.clientID)", "type": "\#(type)"}"#)
        let json = try JSONSerialization.jsonObject(with: Data(answer.utf8))
        let payload = try #require((json as? [String: Any])?["payload"] as? String)
        return #"{"payload":"\#(payload)"}"#
    }
}
