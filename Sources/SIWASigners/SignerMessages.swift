package import SIWACrypto
internal import SIWAJOSE

/// The question to a signer: lines `name=value`, ended by an empty line, so that a shell script can
/// read it (docs/signers.md).
package struct SignerQuestion: Sendable {
    /// The lines, with the empty one.
    package let bytes: [UInt8]

    /// - Parameter message: what is signed; the Key ID is taken from its header.
    package init(_ message: SecretBytes) {
        let message = message.revealed()
        // Fails only if the system's policy disables SHA-256; then nothing can be verified either.
        let digest = (try? SHA256.digest(message.span)) ?? []
        var lines = ["version=1", "operation=sign", "algorithm=ES256"]
        if let keyID = Self.keyID(of: message) { lines.append("key_id=\(keyID)") }
        lines += ["digest=\(Base64.encode(digest))", "message=\(Base64.encode(message))", ""]
        bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// The `kid` of a JWS signing input; nil for another text.
    private static func keyID(of message: [UInt8]) -> String? {
        let header = String(decoding: message.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
        guard let bytes = try? Base64URL.decode(header), let json = try? JSON(bytes),
            let keyID = json["kid"]?.string,
            keyID.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return keyID
    }
}

/// The answer of a signer: lines `name=value`, ended by an empty line. Unknown names are ignored.
package struct SignerAnswer: Hashable, Sendable {
    /// The decoded value of `signature`, empty if it is not base64; nil without one.
    package private(set) var signature: [UInt8]?
    /// The value of `error`; nil without one.
    package private(set) var error: String?

    /// Reads an answer.
    ///
    /// - Returns: nil before the empty line.
    package init?(_ bytes: [UInt8]) {
        guard let lines = Self.lines(bytes) else { return nil }
        self.init(lines: lines)
    }

    /// Reads what came before the end of file, where an empty line should have been.
    package init(cutOff bytes: [UInt8]) {
        self.init(lines: bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) })
    }

    private init(lines: [String]) {
        for line in lines {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "signature": signature = Self.decoded(parts[1])
            case "error": error = String(parts[1])
            default: break
            }
        }
    }

    /// Whether the empty line has come.
    package static func isWhole(_ bytes: [UInt8]) -> Bool { lines(bytes) != nil }

    private static func lines(_ bytes: [UInt8]) -> [String]? {
        var lines: [String] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            var line = rest[..<end]
            if line.last == 0x0D { line.removeLast() }
            if line.isEmpty { return lines }
            lines.append(String(decoding: line, as: UTF8.self))
            rest = rest[(end + 1)...]
        }
        return nil
    }

    private static func decoded(_ text: Substring) -> [UInt8] {
        let digits = text.filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        return (try? Base64URL.decode(String(digits))) ?? []
    }
}
