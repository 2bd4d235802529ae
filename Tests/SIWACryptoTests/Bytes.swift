import Foundation
import SIWACrypto

/// The bytes that pairs of hexadecimal digits spell; spaces between them are skipped.
func bytes(hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
        UInt8(digits[$0] * 16 + digits[$0 + 1])
    }
}

/// The bytes of base64 of either alphabet.
func bytes(base64 text: String) -> [UInt8] {
    var plain = text.replacingOccurrences(of: "-", with: "+")
        .replacingOccurrences(of: "_", with: "/")
    plain += String(repeating: "=", count: (4 - plain.count % 4) % 4)
    return Data(base64Encoded: plain).map { [UInt8]($0) } ?? []
}

/// A file of this target's `Vectors` folder.
func vector(_ name: String) throws -> Data {
    try Data(
        contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Vectors/\(name)"))
}

/// The DER inside one of the PEM files in `Vectors/keys`.
func key(_ name: String) throws -> [UInt8] {
    let text = String(decoding: try vector("keys/\(name).pem"), as: UTF8.self)
    return bytes(base64: text.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined())
}

// Spans cannot be used inside #expect: the same calls with arrays.
extension P256PublicKey {
    func verifies(_ signature: P256Signature, for message: [UInt8]) throws -> Bool {
        try isValidSignature(signature, for: message.span)
    }
}

extension RSAPublicKey {
    func verifies(_ signature: [UInt8], for message: [UInt8]) throws -> Bool {
        try isValidSignature(signature, for: message.span)
    }
}

extension P256PrivateKey {
    func sign(for message: [UInt8]) throws -> P256Signature {
        try signature(for: message.span)
    }
}

extension RSAPrivateKey {
    func sign(for message: [UInt8]) throws -> [UInt8] { try signature(for: message.span) }
}
