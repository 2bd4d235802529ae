import Foundation
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport

/// Signs notifications as Apple does, with a key of its own that `jwks_file` makes siwa-server trust:
/// faster than asking an emulator for each.
struct NotificationSigner: Sendable {
    private let key: RSAPrivateKey
    private let header: JSON = ["kid": "TESTKEY001", "alg": "RS256"]

    init() throws { key = try RSAPrivateKey.generate() }

    /// What `jwks_file` holds.
    var keySet: JSON {
        [
            "keys": [
                [
                    "kty": "RSA", "kid": "TESTKEY001", "use": "sig", "alg": "RS256",
                    "n": .string(Base64URL.encode(key.modulus)),
                    "e": .string(Base64URL.encode(key.exponent)),
                ]
            ]
        ]
    }

    /// The body that Apple would post: a user withdrew their consent.
    ///
    /// - Parameters:
    ///   - time: the `event_time`, in milliseconds; when it was issued if it is nil.
    ///   - offset: when it was issued, in seconds from now; it expires a day later.
    ///   - keyID: the name of the key; the one of ``keySet`` if it is nil.
    func body(
        _ id: String, about userID: String, at time: Int? = nil, issued offset: Int = 0,
        key keyID: String? = nil
    ) throws -> String {
        let now = Int(Date().timeIntervalSince1970) + offset
        let event: JSON = [
            "type": "consent-revoked", "sub": .string(userID),
            "event_time": .integer(time ?? now * 1000),
        ]
        let payload: JSON = [
            "iss": "https://appleid.apple.com", "aud": "com.example.app",
            "exp": .integer(now + 86_400), "iat": .integer(now), "jti": .string(id),
            "events": .string(event.text),
        ]
        let header = keyID.map { ["kid": .string($0), "alg": "RS256"] } ?? header
        let token = try CompactJWS.sign(header: header, payload: payload) {
            bytes throws(OpenSSLError) in
            try key.signature(for: bytes)
        }
        return "{\"payload\":\"\(SecretText(token).revealed())\"}"
    }
}
