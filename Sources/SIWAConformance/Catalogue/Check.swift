/// One property that a backend must have, with an id that never changes its meaning.
package struct Check: Sendable {
    /// How bad a failure is; see docs/conformance.md.
    package enum Severity: String, Sendable, CaseIterable, Comparable {
        case critical, high, medium, advice

        package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        /// 0 is the worst.
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// What a reader learns about a check; each is a sentence or two.
    package struct Guide: Sendable {
        /// What is sent.
        package let sent: String
        /// What must happen.
        package let must: String
        /// How it is usually got wrong.
        package let mistake: String
        /// How to fix it, in a few lines.
        package let fix: String

        package init(sent: String, must: String, mistake: String, fix: String) {
            (self.sent, self.must, self.mistake, self.fix) = (sent, must, mistake, fix)
        }
    }

    /// `T01`.
    package let id: String
    /// `alg-none`; the anchor of its section in docs/conformance.md.
    package let slug: String
    /// How bad a failure is in `conform`; nil if the check is in the vectors alone.
    package let severity: Severity?
    /// What a verifier must say to its vectors; nil if it has none. A variant may differ.
    package let vector: VectorResult?
    package let family: Family
    /// What somebody gains from a backend that fails, in one sentence.
    package let effect: String
    package let guide: Guide
    /// `CVE-2015-9235`.
    package let cves: [String]
    /// URLs of standards, reports and the like.
    package let links: [String]

    /// - Parameter effect: nil for that of the family.
    package init(
        _ id: String, _ slug: String, _ severity: Severity?, vector: VectorResult? = nil,
        _ family: Family, effect: String? = nil, sent: String, must: String = Self.refused,
        mistake: String, fix: String, cves: [String] = [], links: [String] = []
    ) {
        (self.id, self.slug, self.severity, self.vector) = (id, slug, severity, vector)
        (self.family, self.effect) = (family, effect ?? family.effect)
        guide = Guide(sent: sent, must: must, mistake: mistake, fix: fix)
        (self.cves, self.links) = (cves, links)
    }

    /// What must happen to most tokens.
    package static let refused =
        "The backend refuses: no session, no account, a status from 400 to 499."

    /// The group: the letter of its id.
    package var group: String { String(id.prefix(1)) }

    /// Whether a name is its id, its slug or its group.
    package func isNamed(_ name: String) -> Bool { [id, slug, group].contains(name) }
}

/// What a verifier must say to a token.
package enum VectorResult: String, Sendable, CaseIterable {
    case valid, invalid
    /// Either is right.
    case acceptable
}
