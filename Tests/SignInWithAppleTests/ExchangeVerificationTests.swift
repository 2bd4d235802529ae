import SIWACrypto
import SIWAJOSE
import Testing

@testable import SIWALifecycle

/// When the identity token of an exchange needs no signature.
@Suite struct ExchangeVerificationTests {
    private static let unpublished: JSON = ["kid": "two", "alg": "RS256"]

    private func verify(
        _ token: CompactJWS, by keys: ExchangeVerification.Keys, isAuthenticated: Bool = true,
        nonce: String? = nil
    ) throws -> IdentityTokenVerification {
        let answer: JSON = [
            "access_token": "a", "id_token": .string(String(decoding: token.bytes, as: UTF8.self)),
        ]
        let rule = ExchangeVerification(
            audiences: ["com.example.app"], nonce: nonce.map { SecretText($0) },
            isServerAuthenticated: isAuthenticated)
        let response = try #require(TokenResponse(answer.bytes))
        return try #require(rule.verify(response, by: keys, at: TokenTimes(Forge.now)))
    }

    private func published() throws -> KeySet { try #require(Forge.verifier().keySet) }

    @Test func `an unavailable key skips the signature, and the other checks decide`() throws {
        for (token, keySet) in [
            (try Forge.sign(), nil), (try Forge.sign(Forge.claims, Self.unpublished), nil),
            (try Forge.sign(Forge.claims, Self.unpublished), try published()),
        ] {
            let verification = try verify(token, by: .apple(keySet))
            #expect(verification.isValid && !verification.isSigned)
            #expect(verification.claims?.userID.rawValue == "000001.ab.0001")
            let skipped = verification.checks.filter { $0.status == .skipped }.map(\.subject)
            #expect(skipped.starts(with: [.key, .signature]))
            let other = try verify(token, by: .apple(keySet), nonce: "another")
            #expect(other.failures.map(\.subject) == [.nonce] && other.claims == nil)
        }
    }

    @Test func `if the key is published, a changed signature is invalid`() throws {
        let genuine = try verify(Forge.sign(), by: .apple(published()))
        #expect(genuine.isValid && genuine.isSigned)
        let text = String(decoding: try Forge.sign().bytes, as: UTF8.self)
        let changed = try CompactJWS(
            text.split(separator: ".").dropLast().joined(separator: ".") + ".AAAA")
        let forged = try verify(changed, by: .apple(published()))
        #expect(forged.failures.map(\.subject) == [.signature] && forged.claims == nil)
    }

    @Test func `with given keys, an unauthenticated server or another header, nothing is skipped`()
        throws
    {
        let token = try Forge.sign(Forge.claims, Self.unpublished)
        let given = try verify(token, by: .given(published()))
        #expect(given.failures.map(\.subject) == [.key] && given.claims == nil)
        for keys in [ExchangeVerification.Keys.apple(nil), .apple(try published())] {
            let open = try verify(token, by: keys, isAuthenticated: false)
            #expect(open.failures.map(\.subject) == [.key] && open.claims == nil)
        }
        for header: JSON in [
            ["alg": "RS256"], ["alg": "RS256", "kid": ""], ["alg": "RS256", "kid": 1],
            ["alg": "none", "kid": "one"], ["alg": "HS256", "kid": "one"],
            ["alg": "ES256", "kid": "one"], ["kid": "one"],
            ["alg": "RS256", "kid": "one", "crit": ["b64"]],
        ] {
            let other = try verify(Forge.sign(Forge.claims, header), by: .apple(nil))
            #expect(!other.isValid && other.claims == nil, "\(header)")
        }
    }
}
