internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

// Texts that are not JWTs.
extension Recognition {
    /// Nil for a JWT and for unknown texts.
    init?(_ text: SecretText) {
        let bytes = UnwrappedText(text.bytes.revealed()).bytes
        let found =
            Self.opaqueToken(bytes) ?? Self.encryptedToken(bytes) ?? Self.document(bytes)
            ?? Self.key(text)
        guard let found else { return nil }
        self = found
    }

    /// `r<32 lowercase hex>.0.<shard>.<22 base64url>`: the shape of every recorded one.
    private static func opaqueToken(_ bytes: [UInt8]) -> Recognition? {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4, let head = parts.first, head.count == 33,
            head.dropFirst().allSatisfy({ $0.isLowerCaseHexadecimal })
        else { return nil }
        switch head.first {
        case UInt8(ascii: "c"): return Recognition(.authorizationCode, "an authorization code")
        case UInt8(ascii: "r"): return Recognition(.refreshToken, "a refresh token")
        case UInt8(ascii: "a"): return Recognition(.accessToken, "an access token")
        default: return nil
        }
    }

    private static func encryptedToken(_ bytes: [UInt8]) -> Recognition? {
        guard bytes.starts(with: "eyJ".utf8), bytes.count(where: { $0 == 0x2E }) == 4 else {
            return nil
        }
        return Recognition(.encryptedToken, "an encrypted token (JWE), which Apple never issues")
    }

    /// JSON, recognised by a member.
    private static func document(_ bytes: [UInt8]) -> Recognition? {
        guard bytes.first == UInt8(ascii: "{"), let json = try? JSON(bytes) else { return nil }
        if json["kty"] != nil { return webKey(json) }
        let marks: [(String, Kind, String)] = [
            ("keys", .keySet, "a JWK Set"),
            ("access_token", .tokenResponse, "an answer of the token endpoint"),
            ("error", .errorResponse, "an OAuth error"),
            ("payload", .notification, "the body of a server-to-server notification"),
            ("profiles", .configuration, "a configuration of siwa"),
        ]
        let mark = marks.first { json[$0.0] != nil }
        return mark.map { Recognition($0.1, $0.2) } ?? Recognition(.other, "JSON of another kind")
    }

    /// RFC 7518 §6: `d` and `k` are the secret parameters of a key.
    private static func webKey(_ json: JSON) -> Recognition {
        json["d"] == nil && json["k"] == nil
            ? Recognition(.publicKey, "a JSON Web Key")
            : Recognition(.privateKey, "a private key as a JSON Web Key")
    }

    private static func key(_ text: SecretText) -> Recognition? {
        // No key is longer than the longest token.
        guard text.bytes.count <= CompactJWS.limit else { return nil }
        do throws(PrivateKeyError) {
            let key = try PrivateKeyText(text.bytes).privateKey()
            return Recognition(
                .privateKey, "a private key on P-256, as Apple issues them in a .p8",
                publicKey: key.publicKey)
        } catch {
            return Recognition(error)
        }
    }

    private init?(_ error: PrivateKeyError) {
        switch error {
        case .notAPrivateKey(.unknown), .notAPrivateKey(.jwt), .empty: return nil
        case .notAPrivateKey(.publicKey): self.init(.publicKey, "a public key")
        case .notAPrivateKey(.certificate): self.init(.certificate, "a certificate")
        case .notAPrivateKey(let content): self.init(.other, content.name)
        case .encrypted: self.init(.privateKey, "a private key that is locked with a passphrase")
        case .wrongKind(let name): self.init(.privateKey, "\(name), which Apple never issues")
        case .damaged(let detail): self.init(.privateKey, "a damaged private key (\(detail))")
        case .inconsistent: self.init(.privateKey, "a private key with a public half of another")
        }
    }
}
