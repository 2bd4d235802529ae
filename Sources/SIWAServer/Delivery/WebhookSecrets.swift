import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The secrets that sign deliveries to the application (Standard Webhooks), one per line: `whsec_`
/// and 24 to 64 bytes in base64. Every secret signs, so that one can replace another.
struct WebhookSecrets: Sendable {
    private let secrets: [SecretBytes]

    private static let prefix = Array("whsec_".utf8)
    private static let lengths = 24...64

    /// Reads the lines of a secret file.
    ///
    /// - Throws: ``WebhookSecretsError``, which contains no secret.
    init(_ contents: SecretBytes) throws(WebhookSecretsError) {
        var secrets: [SecretBytes] = []
        let lines = contents.revealed().split(separator: 0x0A, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let text = line.filter { ![0x20, 0x09, 0x0D].contains($0) }
            if text.isEmpty { continue }
            guard let secret = Self.secret(text) else { throw .line(index + 1) }
            secrets.append(secret)
        }
        guard !secrets.isEmpty else { throw .empty }
        self.secrets = secrets
    }

    private static func secret(_ line: [UInt8]) -> SecretBytes? {
        guard line.starts(with: prefix) else { return nil }
        let unpadded = line.dropFirst(prefix.count).reversed().drop { $0 == UInt8(ascii: "=") }
        let text = unpadded.reversed().map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        guard let bytes = try? Base64URL.decode(text), lengths.contains(bytes.count) else {
            return nil
        }
        return SecretBytes(bytes)
    }

    /// A line with a new random secret.
    ///
    /// - Throws: ``OpenSSLError`` if the system provides no entropy.
    static func newLine() throws(OpenSSLError) -> SecretBytes {
        let secret = try Random.secret(32)
        var line = SecretBuffer(capacity: 64)
        line.append(contentsOf: prefix)
        line.append(contentsOf: Base64.encode(secret.revealed()).utf8)
        line.append(0x0A)
        return line.finished()
    }

    /// The value of `webhook-signature`.
    ///
    /// - Parameters:
    ///   - id: `webhook-id`.
    ///   - timestamp: `webhook-timestamp`, in seconds.
    /// - Throws: ``OpenSSLError`` if OpenSSL provides no SHA-256.
    func signature(
        id: String, timestamp: Int, body: [UInt8]
    ) throws(OpenSSLError) -> String {
        let message = Array("\(id).\(timestamp).".utf8) + body
        var signatures: [String] = []
        for secret in secrets {
            signatures.append("v1,\(Base64.encode(try HMAC.sha256(message, with: secret)))")
        }
        return signatures.joined(separator: " ")
    }
}

/// Why a file cannot be used for webhook secrets.
enum WebhookSecretsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A line is not a secret.
    case line(Int)
    /// The file has no lines.
    case empty

    /// The message, without the name of the file.
    var description: String {
        switch self {
        case .line(let number):
            "line \(number) is not 'whsec_' and 24 to 64 bytes in base64"
        case .empty: "it contains no secret"
        }
    }
}
