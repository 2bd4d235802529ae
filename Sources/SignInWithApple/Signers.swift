internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASigners

/// A signer behind a Unix socket: a service that has the private key, or a script of siwa's that uses
/// an HSM or a cloud KMS (siwa's documentation: "Keys that siwa never sees").
///
/// Each signature is one connection. The socket must not be one that other users could replace.
public struct SocketSigner: ClientSecretSigner {
    let engine: any SIWALifecycle.ClientSecretSigner

    /// Describes a socket; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - path: the path of the socket.
    ///   - timeout: the time for a signature.
    public init(path: String, timeout: Duration = .seconds(10)) {
        engine = SIWASigners.SocketSigner(path, limit: timeout, isStrict: false)
    }

    /// Signs with ECDSA on P-256 and SHA-256; see ``ClientSecretSigner/signature(for:)``.
    ///
    /// - Throws: ``SignerError``.
    public func signature(for message: [UInt8]) async throws -> [UInt8] {
        try await engine.publicSignature(for: message)
    }
}

/// A signer that is an SSH agent, which holds the key itself or that of a PKCS#11 token.
///
/// OpenSSH's agent serves only processes of its own user, and of root.
public struct SSHAgentSigner: ClientSecretSigner {
    let engine: any SIWALifecycle.ClientSecretSigner

    /// Describes a key of an agent; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - fingerprint: the key's fingerprint, `SHA256:…`, as `ssh-add -l` prints it.
    ///   - socket: the path of the agent's socket, which is the value of `SSH_AUTH_SOCK`.
    ///   - timeout: the time for a signature.
    public init(fingerprint: String, socket: String, timeout: Duration = .seconds(10)) {
        engine = SIWASigners.SSHAgentSigner(
            fingerprint, socket: socket, limit: timeout, isStrict: false)
    }

    /// Signs with ECDSA on P-256 and SHA-256; see ``ClientSecretSigner/signature(for:)``.
    ///
    /// - Throws: ``SignerError``.
    public func signature(for message: [UInt8]) async throws -> [UInt8] {
        try await engine.publicSignature(for: message)
    }
}

extension SIWALifecycle.ClientSecretSigner {
    fileprivate func publicSignature(for message: [UInt8]) async throws(SignerError) -> [UInt8] {
        do throws(SignerFailure) {
            return try await signature(for: SecretBytes(message))
        } catch {
            throw SignerError(error.reason, isTemporary: error.isTemporary)
        }
    }
}
