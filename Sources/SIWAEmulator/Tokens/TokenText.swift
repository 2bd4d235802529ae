internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The texts of codes and tokens, shaped like the recorded ones:
/// `c<32 hex>.0.<shard>.<22 base64url>`.
enum TokenText {
    /// The kind of a code or token: its first letter.
    enum Kind: String, CaseIterable {
        case code = "c"
        case access = "a"
        case refresh = "r"

        /// The kind with an article.
        var name: String {
            switch self {
            case .code: "an authorization code"
            case .access: "an access token"
            case .refresh: "a refresh token"
            }
        }
    }

    static func new(
        _ kind: Kind, shard: String, using random: inout RandomStream
    ) -> String {
        let (first, last) = (random.bytes(16).hexadecimal, Base64URL.encode(random.bytes(16)))
        return "\(kind.rawValue)\(first).0.\(shard).\(last)"
    }

    /// The part that all texts of one user share: three to five of the thirteen letters that Apple
    /// uses.
    static func shard(of user: UserID) throws(OpenSSLError) -> String {
        let digest = try SHA256.digest(user.rawValue)
        let letters = Array("mnpqrstuvwxyz")
        let count = 3 + Int(digest[0]) % 3
        return String(digest[1...count].map { letters[Int($0) % letters.count] })
    }

    /// The kind of a text by its shape; nil if it does not look like anything Apple issues.
    static func kind(of text: String) -> Kind? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].count == 33 else { return nil }
        return Kind.allCases.first { text.hasPrefix($0.rawValue) }
    }

    /// The shape of an unknown text, for the verdict.
    static func appearance(of text: String) -> String {
        if text.hasPrefix("eyJ") { return "this is a JWT" }
        guard let kind = kind(of: text) else {
            return "this does not look like anything Apple issues"
        }
        return "this has the shape of \(kind.name), but is not known here or no longer"
    }
}
