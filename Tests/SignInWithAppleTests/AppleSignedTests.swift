import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// A token that Apple really signed, at a moment of its life.
struct AppleSigned: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let text: [UInt8]
    let moment: NumericDate
    private let verifier: TokenVerifier?
    private let isNotification: Bool

    private init(
        _ name: String, file: String, audience: String, at moment: Int, isNotification: Bool
    ) {
        testDescription = name
        text = vector(file).filter { $0 > 0x20 }
        self.moment = NumericDate(moment)
        self.isNotification = isNotification
        verifier = TokenVerifier(
            keySet: KeySet(vector("jwks-2019-2022.json")), audiences: [audience])
    }

    /// The result of verifying a text in its place.
    struct Outcome {
        let isValid: Bool
        let failed: [String]
        let skipped: [String]

        init<Claims>(_ verification: Verification<Claims>) {
            isValid = verification.isValid
            failed = verification.failed
            skipped = verification.checks.filter { $0.status == .skipped }.map(\.name)
        }
    }

    func verify(_ text: [UInt8], at now: NumericDate? = nil) throws -> Outcome {
        let verifier = try #require(verifier)
        let now = now ?? moment
        guard let token = try? CompactJWS(text) else {
            return Outcome(IdentityTokenVerification(impossible: .format, "it is not a JWT"))
        }
        return isNotification
            ? Outcome(verifier.verify(notification: token, at: now))
            : Outcome(verifier.verify(identityToken: token, at: now))
    }

    static let identityToken = Self(
        "identity token of June 2019", file: "identity-token-2019-06.jwt",
        audience: "jp.yauth.signin.service2", at: 1_559_709_500, isNotification: false)
    static let notification = Self(
        "notification of July 2022", file: "notification-2022-07.jwt",
        audience: "jp.yauth.signin.app", at: 1_657_617_100, isNotification: true)
    static let all = [identityToken, notification]
}

@Suite(.blocking) struct AppleSignedTests {
    @Test(arguments: AppleSigned.all) func `the signed token is valid at its time`(
        _ signed: AppleSigned
    ) throws {
        let outcome = try signed.verify(signed.text)
        #expect(outcome.isValid && outcome.failed == [])
    }

    @Test(arguments: AppleSigned.all)
    func `the signed token has expired today, and has no other fault`(_ signed: AppleSigned) throws
    {
        let outcome = try signed.verify(signed.text, at: NumericDate(1_790_000_000))
        #expect(!outcome.isValid && outcome.failed == ["expiry"])
    }

    @Test(arguments: AppleSigned.all)
    func `the signed token was not yet valid the day before`(_ signed: AppleSigned) throws {
        let outcome = try signed.verify(signed.text, at: signed.moment - .seconds(86_400))
        #expect(!outcome.isValid && outcome.failed == ["issued_at"])
    }

    @Test(arguments: AppleSigned.all)
    func `a change of any bit of its text is detected`(_ signed: AppleSigned) async throws {
        try await expectInvalid(signed, everyBitOf: signed.text) { $0 }
    }

    @Test(arguments: AppleSigned.all)
    func `a change of any bit of header, payload or signature is detected`(
        _ signed: AppleSigned
    ) async throws {
        let parts = signed.text.split(separator: UInt8(ascii: "."))
        try #require(parts.count == 3)
        for place in parts.indices {
            let bytes = try Base64URL.decode(parts[place])
            try await expectInvalid(signed, everyBitOf: bytes) { spoiled in
                var changed = parts
                changed[place] = Array(Base64URL.encode(spoiled).utf8)[...]
                return Array(changed.joined(separator: [UInt8(ascii: ".")]))
            }
        }
    }

    @Test(arguments: AppleSigned.all)
    func `a changed bit of the signature affects only the signature check`(_ signed: AppleSigned)
        throws
    {
        let signature = try CompactJWS(signed.text).signature
        let input = signed.text.prefix(signed.text.lastIndex(of: UInt8(ascii: ".")) ?? 0)
        for place in signature.indices {
            var spoiled = signature
            spoiled[place] ^= 0x10
            let outcome = try signed.verify(
                input + [UInt8(ascii: ".")] + Array(Base64URL.encode(spoiled).utf8))
            #expect(outcome.failed == ["signature"], "byte \(place)")
        }
    }

    @Test(arguments: AppleSigned.all)
    func `a missing character is detected at every position`(_ signed: AppleSigned) throws {
        for place in signed.text.indices {
            var spoiled = signed.text
            spoiled.remove(at: place)
            #expect(try !signed.verify(spoiled).isValid, "without \(place)")
            #expect(try !signed.verify(Array(signed.text.prefix(place))).isValid, "\(place)")
        }
    }

    @Test func `the identity token names its user and its checks`() throws {
        let token = try CompactJWS(AppleSigned.identityToken.text)
        let verifier = TokenVerifier(
            keySet: KeySet(vector("jwks-2019-2022.json")), audiences: ["jp.yauth.signin.service2"])
        let result = verifier.verify(identityToken: token, at: AppleSigned.identityToken.moment)
        let claims = try #require(result.claims)
        #expect(claims.userID.rawValue == "000723.25da8be332964991898630947202fef0.0402")
        #expect(claims.clientID == ClientID(unchecked: "jp.yauth.signin.service2"))
        #expect(claims.issuedAt == NumericDate(1_559_709_290))
        #expect(claims.expiresAt - claims.issuedAt == .seconds(600))
        #expect(claims.email == nil && claims.nonce == nil && !claims.isPrivateEmail)
        #expect(
            result.checks.map(\.name) == [
                "format", "algorithm", "key", "signature", "issuer", "audience", "expiry",
                "issued_at", "subject", "nonce", "c_hash", "at_hash",
            ])
        let skipped = result.checks.filter { $0.status == .skipped }.map(\.name)
        #expect(skipped == ["nonce", "c_hash", "at_hash"])
    }

    @Test func `the notification names its event and its checks`() throws {
        let token = try CompactJWS(AppleSigned.notification.text)
        let verifier = TokenVerifier(
            keySet: KeySet(vector("jwks-2019-2022.json")), audiences: ["jp.yauth.signin.app"])
        let result = verifier.verify(notification: token, at: AppleSigned.notification.moment)
        let claims = try #require(result.claims)
        #expect(claims.event.kind == .consentRevoked)
        #expect(claims.event.userID.rawValue == "000768.6166f031167141e695698239959f591a.1521")
        #expect(claims.event.occurredAt == NumericDate(1_657_617_063))
        #expect(claims.event.email == nil && claims.event.isPrivateEmail == nil)
        #expect(claims.id == "S25cB0PbHs6y97gYYmgydQ")
        #expect(
            result.checks.map(\.name) == [
                "format", "algorithm", "key", "signature", "issuer", "audience", "expiry",
                "issued_at", "jti", "event",
            ])
        #expect(result.checks.allSatisfy { $0.status == .passed })
    }

    @Test func `the identity token is not a notification, nor the reverse`() throws {
        let (token, notification) = (AppleSigned.identityToken, AppleSigned.notification)
        let verifier = TokenVerifier(
            keySet: KeySet(vector("jwks-2019-2022.json")),
            audiences: ["jp.yauth.signin.service2", "jp.yauth.signin.app"])
        let event = verifier.verify(
            notification: try CompactJWS(token.text), at: token.moment)
        #expect(event.failed == ["event"])
        #expect(event.check("event")?.detail?.contains("it is an identity token") == true)
        let identity = verifier.verify(
            identityToken: try CompactJWS(notification.text), at: notification.moment)
        #expect(identity.failed == ["subject"])
        #expect(identity.check("subject")?.detail?.contains("it is a notification") == true)
    }

    /// Flips every bit of `bytes` in turn; what the token becomes must never be valid.
    private func expectInvalid(
        _ signed: AppleSigned, everyBitOf bytes: [UInt8], token: ([UInt8]) -> [UInt8]
    ) async throws {
        #expect(try signed.verify(token(bytes)).isValid)
        for place in bytes.indices {
            // Thousands of verifications, which leave threads for other tests.
            await Task.yield()
            for bit in 0..<8 {
                var spoiled = bytes
                spoiled[place] ^= 1 << UInt8(bit)
                guard try signed.verify(token(spoiled)).isValid else { continue }
                Issue.record("byte \(place), bit \(bit)")
                return
            }
        }
    }
}
