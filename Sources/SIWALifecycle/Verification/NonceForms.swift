internal import SIWACrypto
internal import SIWAJOSE

/// One nonce in the forms in which a token can contain it.
///
/// Forms that result from a mistake are refused, because accepting them would weaken the protection
/// against replay; the message names the mistake.
struct NonceForms {
    private let nonce: String
    private let digest: [UInt8]

    /// Nil if the system's policy disables SHA-256.
    init?(_ secret: SecretText) {
        nonce = secret.revealed()
        guard let digest = try? SHA256.digest(nonce) else { return nil }
        self.digest = digest
    }

    /// The name of the accepted form that was found; nil for other texts.
    func accepted(_ found: String) -> String? {
        if found.matches(nonce) { return "as it was given" }
        return Self.accepted.first { found.matches($0.spell(digest)) }
            .map { "as SHA-256, \($0.name)" }
    }

    /// The mistake that produced the text; nil if it is not recognised.
    func mistake(_ found: String) -> String? {
        for (name, digest) in mistakenDigests {
            if let form = (Self.accepted + Self.mistaken).first(where: {
                found.matches($0.spell(digest))
            }) {
                return """
                    the token has \(name) in \(form.name); accepted are the nonce itself and its \
                    SHA-256 in hexadecimal or base64url
                    """
            }
        }
        if let hash = try? SHA256.digest(found),
            Self.accepted.contains(where: { nonce.matches($0.spell(hash)) })
        {
            return "the token has the nonce whose SHA-256 was given; give the nonce itself"
        }
        return found.lowercased().matches(nonce.lowercased())
            ? "the token's differs in upper and lower case" : nil
    }

    private var mistakenDigests: [(name: String, digest: [UInt8])] {
        let others = [
            ("the nonce hashed twice", try? SHA256.digest(digest.hexadecimal)),
            ("the nonce hashed twice", try? SHA256.digest(digest.span)),
            ("the SHA-256 of the nonce with a line end", try? SHA256.digest(nonce + "\n")),
        ]
        return [("the nonce's SHA-256", digest)]
            + others.compactMap { name, digest in digest.map { (name, $0) } }
    }

    private typealias Spelling = (name: String, spell: @Sendable ([UInt8]) -> String)

    private static let accepted: [Spelling] = [
        ("hexadecimal", { $0.hexadecimal }), ("base64url", { Base64URL.encode($0) }),
    ]

    private static let mistaken: [Spelling] = [
        ("upper-case hexadecimal", { $0.hexadecimal.uppercased() }),
        ("base64", { Base64.encode($0) }),
        ("base64 without its padding", { Base64.unpadded($0) }),
        ("base64url with padding", { Base64.padded(Base64URL.encode($0)) }),
        ("base64 of the hexadecimal", { Base64.encode($0.hexadecimal.utf8) }),
        ("base64url of the hexadecimal", { Base64URL.encode($0.hexadecimal.utf8) }),
    ]
}

extension String {
    /// Compares all bytes in constant time; only a difference in length takes less time.
    package func matches(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return zip(utf8, other.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
