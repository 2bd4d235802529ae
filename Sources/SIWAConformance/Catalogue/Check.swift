/// One property that a backend must have, with an id that never changes its meaning.
package struct Check: Sendable {
    /// How bad a failure is; see docs/conformance.md.
    package enum Severity: String, Sendable, CaseIterable, Comparable {
        case critical, high, medium, advice

        package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        /// 0 is the worst.
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// `T01`.
    package let id: String
    /// `alg-none`; the anchor of its section in docs/conformance.md.
    package let slug: String
    /// How bad a failure is in `conform`.
    package let severity: Severity
    /// What somebody gains from a backend that fails, in one sentence.
    package let effect: String

    package init(_ id: String, _ slug: String, _ severity: Severity, _ effect: String) {
        (self.id, self.slug, self.severity, self.effect) = (id, slug, severity, effect)
    }

    /// The group: the letter of its id.
    package var group: String { String(id.prefix(1)) }
}
