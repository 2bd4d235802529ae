package import SIWACrypto

/// Signs client_secrets with a private key that is somewhere else.
package protocol ClientSecretSigner: Sendable {
    /// The ES256 signature of `message`: r and s, 64 bytes, or DER.
    func signature(for message: [UInt8]) async throws(SignerFailure) -> [UInt8]
}

/// Why a signer did not sign.
package struct SignerFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened, as a sentence without a full stop.
    package let reason: String
    /// Whether it may sign later.
    package let isTemporary: Bool

    package var description: String { reason }

    package init(_ reason: String, isTemporary: Bool) {
        (self.reason, self.isTemporary) = (reason, isTemporary)
    }
}

/// A private key that a signer has. Key ID, public key and signer belong together.
package struct SignerKey: Sendable {
    package let id: KeyID
    /// Verifies every signature before it is used.
    package let publicKey: P256PublicKey
    package let signer: any ClientSecretSigner

    package init(id: KeyID, publicKey: P256PublicKey, signer: any ClientSecretSigner) {
        (self.id, self.publicKey, self.signer) = (id, publicKey, signer)
    }
}

extension ClientSecret {
    /// How long a signer may take: `iat` was set before it was asked, and Apple may refuse a secret
    /// whose `iat` lies far back.
    static let longestSigning = Duration.seconds(60)

    /// Has a secret signed.
    ///
    /// - Throws: ``ClientSecretError``, also for a signature that does not verify.
    package static func signed(
        by key: SignerKey, for client: ClientID, of team: TeamID, lifetime: Duration,
        clocks: Clocks
    ) async throws(ClientSecretError) -> ClientSecret {
        for _ in 0..<2 {
            let unsigned = try UnsignedClientSecret(
                by: key.id, for: client, of: team, at: clocks.now(), lifetime: lifetime)
            let message = unsigned.signingInput.revealed()
            let start = clocks.timekeeper.elapsed()
            let bytes: [UInt8]
            do throws(SignerFailure) {
                bytes = try await key.signer.signature(for: message)
            } catch {
                throw .signer(error)
            }
            guard let signature = key.publicKey.verified(bytes, of: message) else {
                throw .signer(
                    SignerFailure(
                        "the signer's signature is not one of the pinned public key",
                        isTemporary: false))
            }
            if clocks.timekeeper.elapsed() - start <= longestSigning {
                return unsigned.signed(signature)
            }
        }
        throw .signer(
            SignerFailure("the signer took more than a minute, twice", isTemporary: true))
    }
}

extension P256PublicKey {
    /// The signature in the form of JWS if it is one of `message`: r and s, or DER, which only
    /// verifying tells apart.
    fileprivate func verified(_ bytes: [UInt8], of message: [UInt8]) -> P256Signature? {
        [P256Signature(rawRepresentation: bytes), try? P256Signature(der: bytes)]
            .compactMap(\.self)
            .first { (try? isValidSignature($0, for: message.span)) == true }
    }
}
