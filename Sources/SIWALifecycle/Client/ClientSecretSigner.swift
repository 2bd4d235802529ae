package import SIWACrypto
package import SIWAJOSE

/// Signs client_secrets with a private key, wherever the key is: in this process, as that of a key
/// file, or with a program, a service or a device.
package protocol ClientSecretSigner: Sendable {
    /// The ES256 signature of `message`: r and s, 64 bytes, or DER.
    func signature(for message: SecretBytes) async throws(SignerFailure) -> [UInt8]

    /// The signature, if it takes no waiting; nil if ``signature(for:)`` has to be awaited.
    func signatureAtOnce(for message: SecretBytes) throws(SignerFailure) -> [UInt8]?

    /// Whether it signs without waiting, and as often as it is asked.
    var isAtOnce: Bool { get }

    /// Fails with ``SignerFailure/Kind/unusable`` if it must not or cannot be used. It is not asked.
    func check() throws(SignerFailure)
}

extension ClientSecretSigner {
    /// Most signers are somewhere else.
    package func signatureAtOnce(for message: SecretBytes) throws(SignerFailure) -> [UInt8]? { nil }

    /// Most signers are somewhere else.
    package var isAtOnce: Bool { false }

    /// Most signers show their faults only when they are asked.
    package func check() throws(SignerFailure) {}
}

/// The signer of a private key in this process.
struct PrivateKeySigner: ClientSecretSigner {
    private let key: P256PrivateKey

    init(_ key: P256PrivateKey) { self.key = key }

    var isAtOnce: Bool { true }

    func signature(for message: SecretBytes) async throws(SignerFailure) -> [UInt8] {
        try sign(message)
    }

    func signatureAtOnce(for message: SecretBytes) throws(SignerFailure) -> [UInt8]? {
        try sign(message)
    }

    /// Unverified, because every signature is verified before it is used.
    private func sign(_ message: SecretBytes) throws(SignerFailure) -> [UInt8] {
        do throws(OpenSSLError) {
            return try message.withSpan { message throws(OpenSSLError) in
                try key.signature(for: message, isVerified: false)
            }.rawRepresentation
        } catch {
            throw SignerFailure(.key, "the private key cannot sign: \(error)")
        }
    }
}

/// Why a signer did not sign.
package struct SignerFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// It may sign later.
        case unavailable
        /// It refused, and would refuse again.
        case refused
        /// Whoever asks has no permission. Asking again could cost the last try of a PIN.
        case denied
        /// What it returned is not a signature of the pinned public key.
        case invalidSignature
        /// It must not or cannot be used at all: its file is missing, or others can change it.
        case unusable
        /// The private key in this process cannot sign.
        case key
    }

    package let kind: Kind
    /// What happened, as a sentence without a full stop.
    package let reason: String
    /// What the signer itself said, safe to show; nil if it said nothing.
    package let words: String?

    /// Whether it may sign later.
    package var isTemporary: Bool { kind == .unavailable }

    package var description: String { reason }

    package init(_ kind: Kind, _ reason: String, words: String? = nil) {
        (self.kind, self.reason, self.words) = (kind, reason, words)
    }
}

/// A request to a signer, for those who watch it.
package enum SignerEvent: Sendable {
    /// It has been asked for ``ClientSecret/patience`` and has not answered.
    case waiting
    /// It answered, or failed, after this time.
    case ended(SignerFailure?, Duration)
}

extension ClientSecret {
    /// How long a signer may take: `iat` was set before it was asked, and Apple may refuse a secret
    /// whose `iat` lies far back.
    static let longestSigning = Duration.seconds(60)

    /// How long a signer is awaited before its watcher hears of it: it may want a person.
    static let patience = Duration.seconds(2)

    /// Has a secret signed that expires `lifetime` after `now`.
    ///
    /// - Throws: ``ClientSecretError``: for a lifetime outside (0, ``longestLifetime``], if the signer
    ///   fails, and for a signature that does not verify.
    package static func signed(
        by key: SigningKey, for client: ClientID, of team: TeamID, at now: NumericDate,
        lifetime: Duration, timekeeper: Timekeeper = .system
    ) async throws(ClientSecretError) -> ClientSecret {
        let begin = timekeeper.elapsed()
        for _ in 0..<2 {
            let start = timekeeper.elapsed()
            let unsigned = try UnsignedClientSecret(
                by: key.id, for: client, of: team, at: now + (start - begin), lifetime: lifetime)
            if let secret = try unsigned.signedAtOnce(by: key) { return secret }
            let signature = try await unsigned.signature(by: key, timekeeper)
            if timekeeper.elapsed() - start <= longestSigning { return unsigned.signed(signature) }
        }
        throw .signer(SignerFailure(.unavailable, "the signer took more than a minute, twice"))
    }
}

extension UnsignedClientSecret {
    /// Nil if the signer has to be awaited.
    func signedAtOnce(by key: SigningKey) throws(ClientSecretError) -> ClientSecret? {
        do throws(SignerFailure) {
            guard let bytes = try key.signer.signatureAtOnce(for: signingInput) else { return nil }
            return signed(try key.verified(bytes, of: signingInput))
        } catch {
            throw .signer(error)
        }
    }

    fileprivate func signature(
        by key: SigningKey, _ timekeeper: Timekeeper
    ) async throws(ClientSecretError) -> P256Signature {
        let start = timekeeper.elapsed()
        let watching = key.watch.map { watch in
            Task {
                try await timekeeper.sleep(ClientSecret.patience)
                watch(.waiting)
            }
        }
        defer { watching?.cancel() }
        do throws(SignerFailure) {
            let signature = try key.verified(
                try await key.signer.signature(for: signingInput), of: signingInput)
            key.watch?(.ended(nil, timekeeper.elapsed() - start))
            return signature
        } catch {
            key.watch?(.ended(error, timekeeper.elapsed() - start))
            throw .signer(error)
        }
    }
}

extension SigningKey {
    /// Signs any claims, for finding out what Apple accepts.
    package func token(header: JSON, payload: JSON) async throws(SignerFailure) -> SecretText {
        let input = CompactJWS.signingInput(header: header, payload: payload)
        let signature = try verified(try await signer.signature(for: input), of: input)
        return SecretText(CompactJWS.compact(input, signature: signature.rawRepresentation))
    }

    /// The signature in the form of JWS: the signer may have returned r and s, or DER, which only
    /// verifying tells apart. A fault in the arithmetic of ECDSA could reveal the key.
    package func verified(
        _ bytes: [UInt8], of message: SecretBytes
    ) throws(SignerFailure) -> P256Signature {
        let raw = P256Signature(rawRepresentation: bytes)
        if let raw, verifies(raw, of: message) { return raw }
        if let der = try? P256Signature(der: bytes), verifies(der, of: message) { return der }
        throw signer.isAtOnce
            ? SignerFailure(
                .key,
                "the private key cannot sign: the signature does not verify with its public half")
            : SignerFailure(
                .invalidSignature, "the signer's signature is not one of the pinned public key")
    }

    private func verifies(_ signature: P256Signature, of message: SecretBytes) -> Bool {
        (try? message.withSpan { message throws(OpenSSLError) in
            try publicKey.isValidSignature(signature, for: message)
        }) == true
    }
}
