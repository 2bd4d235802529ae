package import SIWAJOSE

/// What `siwa-emulator vectors` prints: tokens, and what a verifier must say to them, in the manner
/// of Wycheproof. docs/conformance/siwa-vectors-1.schema.json describes it.
package struct VectorDocument: Sendable {
    private let options: VectorOptions
    package let groups: [VectorGroup]

    /// Makes every token.
    ///
    /// - Throws: `OpenSSLError` if OpenSSL cannot be loaded.
    package init(_ options: VectorOptions) async throws {
        self.options = options
        var groups: [VectorGroup] = []
        for kind in options.kinds {
            // One issuer for each kind, so that leaving one out does not change the other.
            let issuer = try await VectorIssuer(options)
            switch kind {
            case .identityToken:
                groups += issuer.groups(of: kind, try await issuer.identityTokenVectors())
            case .notification:
                groups += issuer.groups(of: kind, try await issuer.notificationVectors())
            }
        }
        self.groups = groups
    }

    /// The document.
    package var json: JSON {
        var (number, rows) = (1, [JSON]())
        for group in groups {
            rows.append(group.json(from: number))
            number += group.vectors.count
        }
        return [
            "algorithm": "SIWA", "schema": "siwa-vectors-1.schema.json",
            "generator": .string(options.generator), "numberOfTests": .integer(number - 1),
            "notes": .object(notes), "testGroups": .array(rows),
        ]
    }

    /// What the flags mean that occur.
    private var notes: [JSON.Member] {
        let flags = Set(groups.flatMap(\.vectors).flatMap(\.flags))
        return Catalogue.all.filter { flags.contains($0.id) }.sorted { $0.id < $1.id }
            .map { JSON.Member($0.id, $0.note) }
    }
}

extension VectorIssuer {
    fileprivate func identityTokenVectors() async throws -> [Vector] {
        let good = try await goodSignIn()
        var vectors = [
            Vector("a good identity token", .init(good.token, code: good.code), .valid)
        ]
        vectors += try await Vector.identityTokens(from: good, by: issuer)
        return vectors
    }

    /// The vectors by key set: first those of the issuer's own, then one group for each other.
    fileprivate func groups(
        of kind: VectorOptions.Kind, _ vectors: [Vector]
    ) -> [VectorGroup] {
        var keySets = [issuer.keySet]
        for keySet in vectors.compactMap(\.made.keySet) where !keySets.contains(keySet) {
            keySets.append(keySet)
        }
        return keySets.map { keySet in
            VectorGroup(
                kind: kind, issuer: "https://appleid.apple.com", audiences: options.audiences,
                nonce: kind == .identityToken ? nonce : nil, keySet: keySet,
                now: options.at.seconds,
                vectors: vectors.filter { ($0.made.keySet ?? issuer.keySet) == keySet })
        }
    }
}

extension Vector {
    /// Every identity token that can be made of a good one by this issuer.
    package static func identityTokens(
        from good: GoodSignIn, by issuer: Issuer
    ) async throws -> [Vector] {
        var vectors: [Vector] = []
        for bad in BadToken.all where bad.use != .conform {
            guard let made = try await bad.made(good, issuer) else { continue }
            vectors.append(Vector(flags: [bad.id], bad.comment, made, bad.result))
        }
        return vectors
    }
}

extension BadToken {
    /// The token; nil where the issuer lacks what it takes.
    func made(_ good: GoodSignIn, _ issuer: Issuer) async throws -> Made? {
        do {
            return try await make(good, issuer)
        } catch is NotPossible {
            return nil
        }
    }
}

extension Check {
    /// What `notes` says of a flag.
    fileprivate var note: JSON {
        var members = [
            JSON.Member("slug", .string(slug)), JSON.Member("bugType", .string(family.bugType)),
            JSON.Member("description", .string(guide.sent)),
            JSON.Member("effect", .string(effect)),
        ]
        if !cves.isEmpty { members.append(JSON.Member("cves", .array(cves.map(JSON.string)))) }
        if !links.isEmpty { members.append(JSON.Member("links", .array(links.map(JSON.string)))) }
        return .object(members)
    }
}
