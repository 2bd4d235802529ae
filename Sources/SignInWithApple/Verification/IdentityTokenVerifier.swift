internal import SIWACrypto

/// Verifies identity tokens: every check is made and named, so that all failures show at once.
///
/// The algorithm is pinned to RS256 and the key chosen by `kid` before a claim is believed
/// (RFC 8725 §3.1, Apple: "Verifying a user").
public struct IdentityTokenVerifier: Sendable {
    /// Apple's keys.
    public let keySet: KeySet
    /// The clients whose tokens are accepted: `aud`.
    public let audiences: [String]
    /// The issuers that are accepted: `iss`.
    public let issuers: [String]
    /// How far clocks may differ.
    public let leeway: Duration

    /// Accepts Apple's tokens for `audiences`.
    public init(
        keySet: KeySet, audiences: [String], issuers: [String] = ["https://appleid.apple.com"],
        leeway: Duration = .seconds(60)
    ) {
        self.keySet = keySet
        self.audiences = audiences
        self.issuers = issuers
        self.leeway = leeway
    }

    /// What a token must be bound to, besides its client; nil members are not compared.
    public struct Binding: Sendable {
        /// What the app put into the sign-in request, raw.
        public let nonce: SecretText?
        /// The access token that came with it, for `at_hash`.
        public let accessToken: AccessToken?

        /// Names what to compare.
        public init(nonce: SecretText? = nil, accessToken: AccessToken? = nil) {
            self.nonce = nonce
            self.accessToken = accessToken
        }
    }

    /// Makes every check that can be made.
    public func verify(
        _ token: SecretText, boundTo binding: Binding, at now: NumericDate
    ) -> IdentityTokenVerification {
        let jws: CompactJWS
        do {
            jws = try CompactJWS(token.bytes.revealed())
        } catch {
            return IdentityTokenVerification(
                checks: [.failed("format", error.description)], payload: nil)
        }
        let claims = jws.payload
        let checks =
            [.passed("format")] + signatureChecks(jws)
            + [issuer(claims), audience(claims), expiry(claims, now), issuedAt(claims, now)]
            + [subject(claims), nonce(claims, binding.nonce)]
            + [accessTokenHash(claims, binding.accessToken)]
        return IdentityTokenVerification(checks: checks, payload: claims)
    }

    private func signatureChecks(_ jws: CompactJWS) -> [Check] {
        guard jws.header["alg"] == "RS256" else {
            return [
                .failed("algorithm", "\(found(jws.header["alg"])), expected RS256"),
                .skipped("key", "the algorithm is not Apple's"),
                .skipped("signature", "the algorithm is not Apple's"),
            ]
        }
        // An extension nobody here understands must be refused (RFC 7515 §4.1.11).
        guard jws.header["crit"] == nil else {
            return [
                .failed("algorithm", "the header demands extensions (crit)"),
                .skipped("key", "the header is not Apple's"),
                .skipped("signature", "the header is not Apple's"),
            ]
        }
        guard let id = jws.header["kid"]?.string, let key = keySet.keys[id] else {
            return [
                .passed("algorithm"),
                .failed("key", "kid \(found(jws.header["kid"])) is not in Apple's key set"),
                .skipped("signature", "there is no key to verify it with"),
            ]
        }
        let isValid = (try? key.isValidSignature(jws.signature, for: jws.signingInput.span)) == true
        return [
            .passed("algorithm"), .passed("key"),
            .named("signature", isValid, otherwise: "it is not by the key it names"),
        ]
    }
}

// The claims, one function each.
extension IdentityTokenVerifier {
    private func issuer(_ claims: JSON) -> Check {
        .named(
            "issuer", isOne(of: issuers, claims["iss"]),
            otherwise: "\(found(claims["iss"])), expected \(issuers.joined(separator: " or "))")
    }

    private func audience(_ claims: JSON) -> Check {
        .named(
            "audience", isOne(of: audiences, claims["aud"]),
            otherwise: "\(found(claims["aud"])), expected \(audiences.joined(separator: " or "))")
    }

    private func expiry(_ claims: JSON, _ now: NumericDate) -> Check {
        guard let expires = claims["exp"]?.integer.map({ NumericDate($0) }) else {
            return .failed("expiry", "exp is \(found(claims["exp"])), expected whole seconds")
        }
        return .named(
            "expiry", now < expires + leeway,
            otherwise: "expired at \(expires.rfc3339), it is \(now.rfc3339)")
    }

    private func issuedAt(_ claims: JSON, _ now: NumericDate) -> Check {
        guard let issued = claims["iat"]?.integer.map({ NumericDate($0) }) else {
            return .failed("issued_at", "iat is \(found(claims["iat"])), expected whole seconds")
        }
        return .named(
            "issued_at", issued <= now + leeway,
            otherwise: "issued in the future, at \(issued.rfc3339); it is \(now.rfc3339)")
    }

    private func subject(_ claims: JSON) -> Check {
        .named(
            "subject", claims["sub"]?.string.map { !$0.isEmpty } ?? false,
            otherwise: "sub is \(found(claims["sub"]))")
    }

    /// Apps send the nonce as it is, or its SHA-256 in hexadecimal or base64url.
    private func nonce(_ claims: JSON, _ expected: SecretText?) -> Check {
        guard let expected else { return .skipped("nonce", "no nonce was given to compare") }
        guard let found = claims["nonce"]?.string else {
            return .failed("nonce", "the token has none")
        }
        guard let hash = sha256(expected) else { return .failed("nonce", "SHA-256 is missing") }
        if found.isExactly(expected.revealed()) { return .passed("nonce", "as it was given") }
        if found.isExactly(hash.hexadecimal) { return .passed("nonce", "as SHA-256, hexadecimal") }
        if found.isExactly(Base64URL.encode(hash)) {
            return .passed("nonce", "as SHA-256, base64url")
        }
        return .failed("nonce", "the token has another one")
    }

    /// OpenID Connect Core §3.1.3.6: base64url of the left half of the SHA-256.
    private func accessTokenHash(_ claims: JSON, _ accessToken: AccessToken?) -> Check {
        guard let accessToken else { return .skipped("at_hash", "no access token was given") }
        guard let found = claims["at_hash"]?.string else {
            return .skipped("at_hash", "the token has none")
        }
        let expected = sha256(accessToken.text).map { Base64URL.encode($0.prefix(16)) }
        return .named("at_hash", found == expected, otherwise: "it belongs to another access token")
    }

    private func isOne(of accepted: [String], _ claim: JSON?) -> Bool {
        guard let found = claim?.string else { return false }
        return accepted.contains { $0.isExactly(found) }
    }

    private func sha256(_ text: SecretText) -> [UInt8]? { try? text.bytes.withSpan(SHA256.digest) }

    /// A claim as a message may show it: short, and without control characters.
    private func found(_ value: JSON?) -> String {
        guard let text = value?.text else { return "missing" }
        return text.count > 80 ? "\(text.prefix(80))…" : text
    }
}

/// What verifying one identity token found.
public struct IdentityTokenVerification: Sendable {
    /// Every check, in the order they were made.
    public let checks: [Check]
    /// The claims; believe them only when ``isValid``.
    public let payload: JSON?

    /// Whether nothing failed.
    public var isValid: Bool { !checks.contains { $0.status == .failed } }

    /// Whom the token is about, when it is valid.
    public var userID: UserID? {
        isValid ? payload?["sub"]?.string.map { UserID(unchecked: $0) } : nil
    }
}

extension IdentityTokenVerification {
    /// A token that could not even be looked at.
    public static func impossible(_ name: String, _ detail: String) -> Self {
        Self(checks: [.failed(name, detail)], payload: nil)
    }
}
