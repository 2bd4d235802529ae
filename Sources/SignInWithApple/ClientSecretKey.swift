internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The private key of Sign in with Apple, which signs client secrets: the text of a `.p8` file, or a
/// key that a signer has, such as an HSM or a cloud KMS.
public struct ClientSecretKey: Sendable {
    let signing: SigningKey

    /// The Key ID, ten letters and digits.
    public let id: String

    /// Reads the text of a `.p8` file.
    ///
    /// - Parameters:
    ///   - pem: PKCS#8 or SEC 1; PEM, or base64 alone; quoted, indented, on one line with `\n` in
    ///     place of line ends, or encoded in base64 again.
    ///   - id: the Key ID, ten letters and digits.
    /// - Throws: ``SignInWithAppleError`` of kind `invalidConfiguration`.
    public init(pem: String, id: String) throws(SignInWithAppleError) {
        let key: P256PrivateKey
        do throws(PrivateKeyError) {
            key = try PrivateKeyText(SecretBytes(pem.utf8)).privateKey()
        } catch {
            throw SignInWithAppleError(.invalidConfiguration, "the private key \(error)")
        }
        signing = SigningKey(key, id: try valid(id, "the Key ID"))
        self.id = id
    }

    /// Describes a key that is somewhere else.
    ///
    /// - Parameters:
    ///   - id: the Key ID, ten letters and digits.
    ///   - publicKey: the public half of the key: PEM (`BEGIN PUBLIC KEY`). Every signature is
    ///     verified with it before it is used.
    ///   - signer: signs with the private key.
    /// - Throws: ``SignInWithAppleError`` of kind `invalidConfiguration`.
    public init(
        id: String, publicKey: String, signer: any ClientSecretSigner
    ) throws(SignInWithAppleError) {
        let key: P256PublicKey
        do throws(PublicKeyError) {
            key = try P256PublicKey(text: publicKey)
        } catch {
            throw SignInWithAppleError(.invalidConfiguration, "the public key \(error)")
        }
        signing = SigningKey(
            id: try valid(id, "the Key ID"), publicKey: key, signer: Self.engine(signer))
        self.id = id
    }
}

extension ClientSecretKey {
    /// The library's own signers know more about their failures than ``SignerError`` says.
    private static func engine(
        _ signer: any ClientSecretSigner
    ) -> any SIWALifecycle.ClientSecretSigner {
        switch signer {
        case let signer as SocketSigner: signer.engine
        case let signer as SSHAgentSigner: signer.engine
        default: EngineSigner(signer)
        }
    }
}

extension ClientSecretKey: CustomStringConvertible, CustomReflectable {
    /// The Key ID, never the key.
    public var description: String { "key \(id)" }

    /// Keeps `dump` from showing the key.
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// Signs client secrets with a private key that the library does not have.
///
/// Over swift-crypto, for example:
///
/// ```swift
/// struct MySigner: ClientSecretSigner {
///     let key: P256.Signing.PrivateKey
///     func signature(for message: [UInt8]) async throws -> [UInt8] {
///         Array(try key.signature(for: message).rawRepresentation)
///     }
/// }
/// ```
public protocol ClientSecretSigner: Sendable {
    /// Signs with ECDSA on P-256 and SHA-256 (ES256).
    ///
    /// One call at a time is made for a client id. It may take its time: a caller waits no longer
    /// than its own timeout.
    ///
    /// - Parameter message: what is signed, not its hash.
    /// - Returns: r and s, 64 bytes, or DER.
    /// - Throws: ``SignerError``, if it is known whether the signer may sign later; any other error
    ///   is permanent.
    func signature(for message: [UInt8]) async throws -> [UInt8]
}

/// Why a signer did not sign.
public struct SignerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened; it must contain no secret.
    public let description: String
    /// Whether the signer may sign later.
    public let isTemporary: Bool

    /// Creates an error.
    public init(_ reason: String, isTemporary: Bool) {
        (description, self.isTemporary) = (reason, isTemporary)
    }
}

/// Adapts a ``ClientSecretSigner`` to the engine.
private struct EngineSigner: SIWALifecycle.ClientSecretSigner {
    private let base: any ClientSecretSigner

    init(_ base: any ClientSecretSigner) { self.base = base }

    func signature(for message: SecretBytes) async throws(SignerFailure) -> [UInt8] {
        do {
            return try await base.signature(for: message.revealed())
        } catch let error as SignerError {
            throw SignerFailure(
                error.isTemporary ? .unavailable : .refused,
                "the signer failed: \(error.description)")
        } catch {
            // Only its type is shown, because its message may contain what was signed.
            throw SignerFailure(.refused, "the signer failed with \(type(of: error))")
        }
    }
}

func valid<ID: Identifier>(_ text: String, _ name: String) throws(SignInWithAppleError) -> ID {
    do throws(IdentifierError) {
        return try ID(validating: text)
    } catch {
        throw SignInWithAppleError(.invalidConfiguration, "\(name) \(error.fault)")
    }
}
