package import SIWAJOSE

/// Which tokens a document has, and for whom.
package struct VectorOptions: Sendable {
    /// What a group of vectors is about.
    package enum Kind: String, Sendable, CaseIterable {
        case identityToken = "identity-token"
        case notification
    }

    /// The program and its version.
    package let generator: String
    /// The client ids that the verifier accepts; the first one is the audience of the good token.
    package var audiences = ["com.example.app"]
    /// The nonce before it is hashed; nil for one that follows from the seed.
    package var nonce: String?
    /// The time of the verifier.
    package var at = NumericDate(1_795_000_000)
    /// How long good identity tokens are good.
    package var lifetime = Duration.seconds(3600)
    /// Decides everything that is generated.
    package var seed: UInt64 = 1
    package var kinds = Kind.allCases

    /// The options of the document in docs/conformance, but for those that differ.
    package init(generator: String) { self.generator = generator }
}
