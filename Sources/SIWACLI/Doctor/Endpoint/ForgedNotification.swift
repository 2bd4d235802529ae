internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// A notification like Apple's with a random signature: an endpoint that accepts it does not verify
/// signatures.
///
/// Its event concerns a user who cannot exist, so that it changes nothing if it is accepted.
struct ForgedNotification {
    /// The body that Apple would post.
    let body: SecretBytes

    /// - Parameters:
    ///   - clientID: the client whose notifications the endpoint takes, if it is known.
    ///   - keyID: the id of one of Apple's keys. An endpoint that did not know the key could not
    ///     tell yet that the notification is forged.
    init(
        for clientID: ClientID?, keyID: String?, at now: NumericDate
    ) throws(OpenSSLError) {
        let header: [JSON.Member] =
            (keyID.map { [.init("kid", .string($0))] } ?? []) + [.init("alg", "RS256")]
        let event: JSON = [
            "type": "email-disabled", "sub": "000000.siwa-doctor.0000",
            "email": "siwa-doctor@privaterelay.appleid.com", "is_private_email": "true",
            "event_time": .integer(now.seconds * 1000),
        ]
        let claims: JSON = [
            "iss": "https://appleid.apple.com",
            "aud": .string(clientID?.rawValue ?? "com.example.siwa-doctor"),
            "exp": .integer(now.seconds + 86_400), "iat": .integer(now.seconds),
            "jti": .string("siwa-doctor-" + Base64URL.encode(try Random.bytes(12))),
            "events": .string(event.text),
        ]
        let token = try CompactJWS.sign(header: .object(header), payload: claims) {
            _ throws(OpenSSLError) in try Random.bytes(256)
        }
        let payload = String(decoding: token.revealed(), as: UTF8.self)
        body = SecretBytes((["payload": .string(payload)] as JSON).bytes)
    }
}
