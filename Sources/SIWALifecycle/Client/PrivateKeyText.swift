package import SIWACrypto
internal import SIWAJOSE

/// A private key in any of the forms in which users have it, converted to DER.
///
/// Apple issues PKCS#8 in PEM. In environment variables, secret stores and chats it loses line
/// feeds, gains quotation marks, or is encoded again.
package struct PrivateKeyText: Sendable {
    /// A repair that was needed to read the key.
    package enum Repair: String, Sendable, CaseIterable {
        /// Quotation marks around the text.
        case quotes = "quotation marks around it"
        /// A byte order mark in front.
        case byteOrderMark = "a byte order mark in front"
        /// `\n` in place of line feeds.
        case escapedLineFeeds = "line feeds written as \\n"
        /// Carriage returns.
        case carriageReturns = "Windows line ends"
        /// Spaces before or after lines.
        case indentation = "spaces around lines"
        /// The whole PEM, encoded in base64 again.
        case base64 = "base64 around the PEM"
        /// No BEGIN and END lines.
        case missingArmour = "missing BEGIN and END lines"
        /// BEGIN, key and END on one line.
        case oneLine = "missing line ends"
        /// The DER itself.
        case binary = "binary DER in place of PEM"
    }

    /// PKCS#8 or SEC 1.
    package let der: SecretBytes
    /// The repairs, in their order.
    package let repairs: [Repair]

    /// Finds the key in `text`.
    ///
    /// - Throws: ``PrivateKeyError``, which names what the text is instead.
    package init(_ text: SecretBytes) throws(PrivateKeyError) {
        if Self.isBinary(text) {
            (der, repairs) = (text, [.binary])
            return
        }
        var cleaned = CleanedText(text)
        guard cleaned.bytes.count > 0 else { throw .empty }
        if let block = try PEMBlock(cleaned.bytes) {
            cleaned.note(block.repairs)
            (der, repairs) = (block.der, cleaned.repairs)
            return
        }
        if let other = Self.otherContent(cleaned.bytes) { throw .notAPrivateKey(other) }
        let decoded = try decodeBase64(cleaned.bytes)
        var inner = CleanedText(decoded)
        if let block = try PEMBlock(inner.bytes) {
            inner.note(block.repairs)
            cleaned.note([.base64] + inner.repairs)
            (der, repairs) = (block.der, cleaned.repairs)
            return
        }
        guard Self.isBinary(decoded) else { throw .notAPrivateKey(.unknown) }
        (der, repairs) = (decoded, cleaned.repairs + [.missingArmour])
    }

    /// A DER SEQUENCE; the second byte of every key's is a long length or not ASCII text.
    private static func isBinary(_ bytes: SecretBytes) -> Bool {
        bytes.withSpan { bytes in
            bytes.count > 2 && bytes[0] == 0x30
                && bytes.indices.contains { bytes[$0] >= 0x80 || bytes[$0] == 0 }
        }
    }

    private static func otherContent(_ bytes: SecretBytes) -> PrivateKeyError.OtherContent? {
        let text = SecretText(bytes)
        if text.hasPrefix("eyJ") { return .jwt }
        if text.hasPrefix("{") { return .json }
        if text.hasPrefix("ssh-") { return .sshPublicKey }
        return nil
    }
}

/// A text without quotation marks, escapes and spaces that were added to it.
private struct CleanedText {
    private(set) var bytes: SecretBytes
    private(set) var repairs: [PrivateKeyText.Repair] = []

    init(_ text: SecretBytes) {
        bytes = text
        if SecretText(bytes).hasPrefix("\u{FEFF}") { drop(3, 0, .byteOrderMark) }
        trim()
        if quotes > 0 { drop(quotes, quotes, .quotes) }
        trim()
        unescape()
        trim()
    }

    mutating func note(_ more: [PrivateKeyText.Repair]) {
        repairs += more.filter { !repairs.contains($0) }
    }

    /// The number of pairs of quotation marks around the text. They are removed together, because
    /// the text may consist of quotation marks only.
    private var quotes: Int {
        bytes.withSpan { bytes in
            let half = bytes.count / 2
            return (0..<half).first { index in
                let isMark = bytes[index] == UInt8(ascii: "\"") || bytes[index] == UInt8(ascii: "'")
                return !isMark || bytes[index] != bytes[bytes.count - 1 - index]
            } ?? half
        }
    }

    private mutating func trim() {
        let (front, back) = bytes.withSpan { bytes in
            let text = rangeWithoutSpace(bytes)
            return (text.lowerBound, bytes.count - text.upperBound)
        }
        drop(front, back)
    }

    private mutating func drop(
        _ front: Int, _ back: Int, _ repair: PrivateKeyText.Repair? = nil
    ) {
        if let repair { note([repair]) }
        guard front + back > 0 else { return }
        var kept = SecretBuffer(capacity: bytes.count)
        bytes.withSpan { bytes in
            for index in front..<bytes.count - back { kept.append(bytes[index]) }
        }
        bytes = kept.finished()
    }

    /// Replaces a spelled-out `\n` with a line feed, and removes a spelled-out `\r`.
    private mutating func unescape() {
        var plain = SecretBuffer(capacity: bytes.count)
        var found = false
        bytes.withSpan { bytes in
            var index = 0
            while index < bytes.count {
                let next = index + 1 < bytes.count ? bytes[index + 1] : 0
                if bytes[index] == UInt8(ascii: "\\"),
                    next == UInt8(ascii: "n") || next == UInt8(ascii: "r")
                {
                    found = true
                    if next == UInt8(ascii: "n") { plain.append(0x0A) }
                    index += 2
                } else {
                    plain.append(bytes[index])
                    index += 1
                }
            }
        }
        guard found else { return }
        bytes = plain.finished()
        note([.escapedLineFeeds])
    }
}

/// Decodes base64 of either alphabet without leaving copies; skips white space and padding.
func decodeBase64(_ text: SecretBytes) throws(PrivateKeyError) -> SecretBytes {
    var decoder = Base64Decoder()
    var decoded = SecretBuffer(capacity: text.count)
    do throws(Base64URLError) {
        try text.withSpan { bytes throws(Base64URLError) in
            for index in bytes.indices {
                let byte = bytes[index]
                if isSpace(byte) || byte == UInt8(ascii: "=") { continue }
                let digit =
                    switch byte {
                    case UInt8(ascii: "+"): UInt8(ascii: "-")
                    case UInt8(ascii: "/"): UInt8(ascii: "_")
                    default: byte
                    }
                if let value = try decoder.next(digit) { decoded.append(value) }
            }
        }
        try decoder.finish()
    } catch {
        throw .notAPrivateKey(.unknown)
    }
    return decoded.finished()
}
