package import SIWACrypto

/// A JWK Set (RFC 7517 §5): Apple's public keys, chosen by `kid`, never by order.
package struct KeySet: Sendable {
    /// The usable keys, in the order of their `kid`.
    package let keys: [NamedKey]
    /// The keys of the set that are not used, and why.
    package let ignored: [IgnoredKey]
    /// The set as it was read.
    package let document: JSON

    /// Reads a JWK Set; keys that cannot verify RS256 are left out, as RFC 7517 §5 advises.
    ///
    /// Nil if it is not a JWK Set or has no usable key: no token could be valid.
    package init?(_ body: [UInt8]) {
        guard let document = try? JSON(body) else { return nil }
        self.init(document)
    }

    /// Creates a key set from a JWK Set that was read before.
    package init?(_ document: JSON) {
        guard let elements = document["keys"]?.elements else { return nil }
        let reading = Reading(elements)
        guard !reading.keys.isEmpty else { return nil }
        keys = reading.keys
        ignored = reading.ignored
        self.document = document
    }

    /// The keys of a JWK Set that cannot be used, even if it has no others; empty if it is not a
    /// JWK Set.
    package static func ignored(in body: [UInt8]) -> [IgnoredKey] {
        (try? JSON(body))?["keys"]?.elements.map { Reading($0).ignored } ?? []
    }

    /// The `kid` of each usable key, in order.
    package var keyIDs: [String] { keys.map { $0.id } }

    /// The usable key with this `kid`; nil if the set does not have it.
    package subscript(id: String) -> RSAPublicKey? { keys.first { $0.id == id }?.key }
}

/// A usable key of a set.
package struct NamedKey: Equatable, Sendable {
    /// Its `kid`.
    package let id: String
    /// The key.
    package let key: RSAPublicKey
}

/// A key of a set that verifies no token.
package struct IgnoredKey: Hashable, Sendable {
    /// Its `kid`; nil if it has no `kid`.
    package let keyID: String?
    /// Why it is ignored.
    package let reason: Reason

    /// Pairs a key with the reason.
    package init(keyID: String?, reason: Reason) {
        self.keyID = keyID
        self.reason = reason
    }

    /// Why a key cannot be used, as the end of a sentence.
    package enum Reason: String, Error, CaseIterable, CustomStringConvertible {
        /// A JWK is an object.
        case noObject = "it is not an object"
        /// Apple's tokens name their key by it.
        case noKeyID = "it has no kid"
        /// `kty`.
        case type = "it is not an RSA key"
        /// `use`.
        case use = "it is not for signatures"
        /// `key_ops` (RFC 7517 §4.3).
        case operations = "its key_ops do not include verify"
        /// `alg`.
        case algorithm = "it is not for RS256"
        /// `n` and `e` (RFC 7518 §6.3.1).
        case numbers = "its modulus or exponent cannot be read"
        /// Too small (RFC 7518 §3.3), too large, or not an RSA key.
        case unfit = "its numbers make no RSA key of 2048 to 16384 bits"
        /// RFC 7517 §4.5. Only their order could tell which one is meant.
        case ambiguous = "another key has the same kid"

        /// The raw value.
        package var description: String { rawValue }
    }
}

/// The keys of a set, divided into usable and ignored ones.
private struct Reading {
    // An array: a dictionary of few keys costs more than it saves, because the runtime looks through
    // all conformances of the program when it creates the type (docs/decisions/linking.md).
    var keys: [NamedKey] = []
    var ignored: [IgnoredKey] = []
    private var ambiguous: [String] = []

    init(_ elements: [JSON]) {
        for element in elements { take(element) }
        settleAmbiguity()
        keys.sort { $0.id < $1.id }
    }

    private mutating func take(_ element: JSON) {
        let id = element["kid"]?.string
        do throws(IgnoredKey.Reason) {
            let key = try Self.key(id, element)
            if let other = keys.first(where: { $0.id == key.id }) {
                if other != key { ambiguous.append(key.id) }
            } else {
                keys.append(key)
            }
        } catch {
            ignored.append(IgnoredKey(keyID: id, reason: error))
        }
    }

    /// Removes keys that share a `kid`, unless they are equal.
    private mutating func settleAmbiguity() {
        for id in ambiguous {
            guard let place = keys.firstIndex(where: { $0.id == id }) else { continue }
            keys.remove(at: place)
            ignored.append(IgnoredKey(keyID: id, reason: .ambiguous))
        }
    }

    private static func allowsVerifying(_ operations: JSON) -> Bool {
        operations.elements?.contains("verify") ?? false
    }

    private static func key(
        _ id: String?, _ key: JSON
    ) throws(IgnoredKey.Reason) -> NamedKey {
        guard key.members != nil else { throw .noObject }
        guard let id, !id.isEmpty else { throw .noKeyID }
        guard key["kty"] == "RSA" else { throw .type }
        guard key["use"] ?? "sig" == "sig" else { throw .use }
        guard key["key_ops"].map(allowsVerifying) ?? true else { throw .operations }
        guard key["alg"] ?? "RS256" == "RS256" else { throw .algorithm }
        guard let n = key["n"]?.string, let modulus = try? Base64URL.decode(n),
            let e = key["e"]?.string, let exponent = try? Base64URL.decode(e)
        else { throw .numbers }
        do {
            return NamedKey(id: id, key: try RSAPublicKey(modulus: modulus, exponent: exponent))
        } catch {
            throw .unfit
        }
    }
}
