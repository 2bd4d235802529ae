internal import SIWACrypto
internal import SIWAJOSE

/// What the exchange of a code is answered with, in place of what would be made then.
struct PreparedAnswer: Sendable {
    let alteration: TokenAlteration
    /// The access token; nil for one that is made at the exchange.
    let accessToken: String?
}

/// What makes a token wrong on purpose: the members `header`, `claims`, `sign` and `token` of a
/// control request.
struct TokenAlteration: Sendable {
    /// How a part of a token differs from the good one.
    enum Part: Sendable {
        /// Members that are set, or removed if their value is null.
        case members([JSON.Member])
        /// Other bytes, which need not be JSON.
        case text(String)
    }

    /// Which signature a token gets.
    enum Signature: String, CaseIterable, JSONConvertible {
        /// By the key that signs.
        case published
        /// By another published key; `kid` is still that of the key that signs.
        case otherPublished = "other_published"
        /// By a key that is not published.
        case unpublished
        /// No signature: nothing follows the last full stop.
        case none
        /// The one of the good token.
        case kept
        /// The one of the published key, with one bit changed.
        case changed
    }

    static let members = ["header", "claims", "sign", "token"]

    let header: Part
    let claims: Part
    let signature: Signature
    /// The whole token; nil if it is made of the other members.
    let ready: String?

    /// Whether the result differs from the good token.
    let isEffective: Bool

    /// A whole token.
    init(ready: String) {
        (header, claims, signature) = (.members([]), .members([]), .published)
        (self.ready, isEffective) = (ready, true)
    }

    /// Reads the members of a control request.
    init(_ reader: JSONObjectReader) throws(ShapeError) {
        (header, claims) = (try reader.part("header"), try reader.part("claims"))
        signature = try reader.optional("sign") ?? .published
        ready = try reader.optional("token")
        isEffective = Self.members.contains { reader.json[$0] != nil }
        let others = Self.members.dropLast().filter { reader.json[$0] != nil }
        if let other = others.first, ready != nil {
            throw ShapeError(reader.place, "'token' and '\(other)' exclude each other")
        }
    }
}

extension JSONObjectReader {
    fileprivate func part(_ name: String) throws(ShapeError) -> TokenAlteration.Part {
        switch json[name] {
        case nil: .members([])
        case .string(let text): .text(text)
        case .object(let members): .members(members)
        default:
            throw ShapeError(
                place, "'\(name)' must be an object of members to set, or a string to use instead")
        }
    }
}

extension TokenAlteration.Part {
    /// The bytes of the part, made of the good one.
    func bytes(_ good: JSON) -> [UInt8] {
        switch self {
        case .members([]): good.bytes
        case .members(let changes): good.setting(changes).bytes
        case .text(let text): Array(text.utf8)
        }
    }
}

extension EmulatorKeys {
    /// The token of these claims, changed as asked for.
    func token(_ claims: JSON, altered: TokenAlteration) throws(OpenSSLError) -> String {
        if let ready = altered.ready { return ready }
        let header: JSON = ["kid": .string(signing.keyID), "alg": "RS256"]
        let parts = [altered.header.bytes(header), altered.claims.bytes(claims)]
        let input = parts.map { Base64URL.encode($0) }.joined(separator: ".")
        let good = [header.bytes, claims.bytes].map { Base64URL.encode($0) }
        let message = Array(input.utf8)
        let signature: [UInt8] =
            switch altered.signature {
            case .published: try signing.key.signature(for: message.span)
            case .otherPublished:
                try (entries.first { $0.keyID != signing.keyID } ?? signing).key
                    .signature(for: message.span)
            case .unpublished: try unpublished().signature(for: message.span)
            case .none: []
            case .kept:
                try signing.key.signature(for: Array(good.joined(separator: ".").utf8).span)
            case .changed: Self.flipped(try signing.key.signature(for: message.span))
            }
        return input + "." + Base64URL.encode(signature)
    }

    private static func flipped(_ signature: [UInt8]) -> [UInt8] {
        var bytes = signature
        if !bytes.isEmpty { bytes[bytes.count / 2] ^= 1 }
        return bytes
    }

    /// A constant key that is not published.
    private func unpublished() throws(OpenSSLError) -> RSAPrivateKey {
        let published = entries.map(\.key.modulus)
        for number in 0..<KeyPool.count {
            let key = try KeyPool.key(number)
            if !published.contains(key.modulus) { return key }
        }
        return try RSAPrivateKey.generate()
    }
}

extension JSON {
    /// This object with members set, or removed if their value is null.
    fileprivate func setting(_ changes: [Member]) -> JSON {
        var members = members ?? []
        for change in changes {
            let index = members.firstIndex { $0.name == change.name }
            switch (index, change.value) {
            case (let index?, .null): members.remove(at: index)
            case (let index?, _): members[index] = change
            case (nil, .null): break
            case (nil, _): members.append(change)
            }
        }
        return .object(members)
    }
}
