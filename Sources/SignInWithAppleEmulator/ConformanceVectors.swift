public import FoundationEssentials
package import SIWAConformance
internal import SIWAJOSE
internal import SIWALifecycle
internal import SignInWithApple

/// Tokens that a verifier must accept or refuse, as `siwa-emulator vectors` prints them
/// (docs/conformance.md).
public struct ConformanceVectors: Hashable, Sendable {
    /// What a verifier must say to a token.
    public enum Result: String, Sendable, CaseIterable {
        /// It must be accepted.
        case valid
        /// It must be refused.
        case invalid
        /// Either is right; the comment says why.
        case acceptable
    }

    /// One token.
    public struct Test: Hashable, Sendable {
        /// The ids of its checks, such as `T02`; empty for a good token.
        public let flags: [String]
        /// What is wrong with the token. The token itself does not say it.
        public let comment: String
        /// The identity token, or the payload of a notification.
        public let token: String
        /// The authorization code that came with the token, where `c_hash` matters.
        public let code: String?
        /// The access token that came with the token, where `at_hash` matters.
        public let accessToken: String?
        /// What a verifier must say to it.
        public let result: Result
    }

    /// Tokens for one verifier.
    public struct Group: Hashable, Sendable {
        /// Whether the tokens are notifications, and not identity tokens.
        public let isNotifications: Bool
        /// The issuer that the verifier expects.
        public let issuer: String
        /// The client ids that the verifier accepts.
        public let audiences: [String]
        /// The nonce before it is hashed: the tokens have its SHA-256 in hexadecimal. Nil for
        /// notifications.
        public let nonce: String?
        /// The key set of the issuer, as JSON (RFC 7517).
        public let keySet: String
        /// The time of the verifier.
        public let now: Date
        /// The tokens.
        public let tests: [Test]
    }

    /// The tokens, by key set.
    public let groups: [Group]
    /// The whole document, which `siwa-vectors-1.schema.json` describes.
    public let json: String

    /// Makes the tokens. The same arguments give the same tokens.
    ///
    /// - Parameters:
    ///   - audiences: the client ids that the verifier accepts, at least one; the first is the
    ///     audience of the good token.
    ///   - nonce: the nonce before it is hashed; nil for one that follows from the seed.
    ///   - now: the time of the verifier.
    ///   - lifetime: how long the good tokens are good.
    ///   - seed: decides keys, codes and everything else that is generated.
    /// - Throws: ``EmulatorError`` if the tokens cannot be made.
    public init(
        audiences: [String] = ["com.example.app"], nonce: String? = nil,
        now: Date = Date(timeIntervalSince1970: 1_795_000_000), lifetime: Duration = .seconds(3600),
        seed: UInt64 = 1
    ) async throws(EmulatorError) {
        var options = VectorOptions(generator: "siwa-emulator \(version)")
        if !audiences.isEmpty { options.audiences = audiences }
        (options.nonce, options.lifetime, options.seed) = (nonce, lifetime, seed)
        options.at = NumericDate(now)
        do {
            let document = try await VectorDocument(options)
            groups = document.groups.map(Group.init)
            json = document.json.indentedText + "\n"
        } catch {
            throw EmulatorError("\(error)")
        }
    }
}

extension ConformanceVectors.Group {
    fileprivate init(_ group: VectorGroup) {
        self.init(
            isNotifications: group.kind == .notification, issuer: group.issuer,
            audiences: group.audiences, nonce: group.nonce, keySet: group.keySet.text,
            now: Date(timeIntervalSince1970: TimeInterval(group.now)),
            tests: group.vectors.map(ConformanceVectors.Test.init))
    }
}

extension ConformanceVectors.Test {
    package init(_ vector: Vector) {
        let result: ConformanceVectors.Result =
            switch vector.result {
            case .valid: .valid
            case .invalid: .invalid
            case .acceptable: .acceptable
            }
        self.init(
            flags: vector.flags, comment: vector.comment, token: vector.made.token,
            code: vector.made.code, accessToken: vector.made.accessToken, result: result)
    }
}
