package import SIWACrypto
internal import SIWAJOSE
package import SIWALifecycle
internal import SIWASystem

/// A signer that is an SSH agent (draft-ietf-sshm-ssh-agent), which signs with ECDSA over P-256 and SHA-256 as ES256
/// does.
package struct SSHAgentSigner: ClientSecretSigner {
    private let fingerprint: String
    private let socket: String
    private let limit: Duration
    private let isStrict: Bool

    /// - Parameters:
    ///   - fingerprint: that of the key, `SHA256:…`, as `ssh-add -l` prints it.
    ///   - socket: the path of the agent's socket.
    ///   - limit: the time for a signature.
    ///   - isStrict: whether a socket of another user is refused.
    package init(_ fingerprint: String, socket: String, limit: Duration, isStrict: Bool) {
        (self.fingerprint, self.socket, self.limit) = (fingerprint, socket, limit)
        self.isStrict = isStrict
    }

    package func check() throws(SignerFailure) {
        guard let fault = TrustedPath(socket, isStrict: isStrict).socketFault else { return }
        throw SignerFailure(.unusable, "the SSH agent's socket \(socket) \(fault)")
    }

    package func signature(for message: SecretBytes) async throws(SignerFailure) -> [UInt8] {
        try check()
        let fingerprint = fingerprint
        let message = message.revealed()
        let answer = try await converse(socket, limit, "the SSH agent") {
            stream throws(FileError) -> Answer in
            try stream.write(SSHMessage.identities)
            guard let listed = try Self.frame(stream) else { return .ended }
            guard let identities = SSHMessage.keys(in: listed) else { return .strange }
            guard !identities.isEmpty else { return .empty }
            guard let key = identities.first(where: { SSHKey.fingerprint($0) == fingerprint })
            else { return .otherKeys }
            try stream.write(SSHMessage.sign(message, with: key))
            guard let reply = try Self.frame(stream) else { return .ended }
            if reply.first == SSHMessage.failure { return .refused }
            return SSHMessage.signature(in: reply).map { .signature($0) } ?? .strange
        }
        return try read(answer)
    }

    private enum Answer: Sendable {
        case signature([UInt8])
        case empty
        case otherKeys
        case refused
        /// It closed the connection.
        case ended
        /// Not the protocol of an agent, or more than it may send.
        case strange
    }

    private func read(_ answer: Answer) throws(SignerFailure) -> [UInt8] {
        switch answer {
        case .signature(let bytes): return bytes
        case .empty:
            throw SignerFailure(.unavailable, "the SSH agent \(socket) is locked or has no key")
        case .otherKeys:
            throw SignerFailure(
                .denied, "the SSH agent \(socket) has other keys, but not \(fingerprint)")
        case .refused: throw SignerFailure(.refused, "the SSH agent \(socket) refused to sign")
        case .ended:
            throw SignerFailure(.unavailable, "the SSH agent \(socket) ended without an answer")
        case .strange:
            throw SignerFailure(
                .refused, "what \(socket) answered is not the protocol of an SSH agent")
        }
    }

    /// Reads a frame: its length in four bytes, and its content. Nil if the agent closed the connection
    /// before its end; empty if it is too long.
    @Sendable private static func frame(_ stream: UnixStream) throws(FileError) -> [UInt8]? {
        var bytes: [UInt8] = []
        while true {
            if bytes.count >= 4 {
                let length = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
                guard length <= SessionProgram.mostOutput else { return [] }
                if bytes.count >= 4 + length { return Array(bytes[4..<(4 + length)]) }
            }
            let chunk = try stream.read()
            guard !chunk.isEmpty else { return nil }
            bytes += chunk
        }
    }
}

/// A public key as SSH writes it (RFC 5656 §3.1).
package enum SSHKey {
    static let algorithm = Array("ecdsa-sha2-nistp256".utf8)

    /// The fingerprint that `ssh-add -l` prints: `SHA256:…`.
    package static func fingerprint(of key: P256PublicKey) -> String {
        fingerprint(
            SSHMessage.string(algorithm) + SSHMessage.string(Array("nistp256".utf8))
                + SSHMessage.string(key.x963Representation))
    }

    static func fingerprint(_ blob: [UInt8]) -> String {
        "SHA256:" + Base64.unpadded((try? SHA256.digest(blob.span)) ?? [])
    }
}

/// The messages of the agent's protocol (draft-ietf-sshm-ssh-agent, section 3), without the length of replies.
enum SSHMessage {
    static let failure: UInt8 = 5

    /// Asks for the public keys.
    static let identities = framed([11])

    /// Asks for a signature of `message`.
    static func sign(_ message: [UInt8], with key: [UInt8]) -> [UInt8] {
        framed([13] + string(key) + string(message) + [0, 0, 0, 0])
    }

    /// The public keys in a reply; nil if it is another message.
    static func keys(in reply: [UInt8]) -> [[UInt8]]? {
        var rest = reply[...]
        guard rest.popFirst() == 12, let count = number(&rest) else { return nil }
        var keys: [[UInt8]] = []
        for _ in 0..<count {
            guard let key = text(&rest), text(&rest) != nil else { return nil }
            keys.append(Array(key))
        }
        return keys
    }

    /// The signature in a reply as r and s, 64 bytes; empty if it is of another algorithm or out of
    /// range, nil if the reply is another message.
    static func signature(in reply: [UInt8]) -> [UInt8]? {
        var rest = reply[...]
        guard rest.popFirst() == 14, var signature = text(&rest) else { return nil }
        guard let algorithm = text(&signature), Array(algorithm) == SSHKey.algorithm,
            var numbers = text(&signature), let r = text(&numbers), let s = text(&numbers),
            let r = scalar(r), let s = scalar(s)
        else { return [] }
        return r + s
    }

    static func string(_ bytes: [UInt8]) -> [UInt8] { length(bytes.count) + bytes }

    private static func framed(_ bytes: [UInt8]) -> [UInt8] { string(bytes) }

    private static func length(_ count: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
    }

    /// An mpint as 32 bytes; nil if it is negative or longer.
    private static func scalar(_ number: ArraySlice<UInt8>) -> [UInt8]? {
        guard number.first.map({ $0 < 0x80 }) ?? true else { return nil }
        let digits = number.drop { $0 == 0 }
        return digits.count > 32 ? nil : Array(repeating: 0, count: 32 - digits.count) + digits
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
        guard rest.count >= 4 else { return nil }
        let number = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(4)
        return number
    }

    private static func text(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let count = number(&rest), count <= rest.count else { return nil }
        let text = rest.prefix(count)
        rest = rest.dropFirst(count)
        return text
    }
}
