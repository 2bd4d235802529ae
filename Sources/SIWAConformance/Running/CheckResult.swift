package import SIWAJOSE

/// The result of one check in one flow.
package struct CheckResult: Sendable {
    package enum Result: String, Sendable, CaseIterable {
        case held, failed, advice, skipped, inconclusive
    }

    /// One request, or several with the same deviation.
    package struct Variant: Sendable {
        package let comment: String
        package let outcome: String
        package let status: Int?
        /// Whether the backend did what it must not do.
        package let isWrong: Bool
        /// False if it could not be made; `outcome` then says why.
        package var isSent = true
        /// Whether it was sent, and nothing can be said.
        package var isOpen = false
        /// Why what is wrong about it never fails a run; nil if it may.
        package var adviceReason: String?
    }

    /// Why a check is not carried out.
    enum Skip: Sendable {
        /// FILE or the options leave out what it needs.
        case missing(String)
        /// It says nothing about such a backend.
        case pointless(String)
    }

    package let check: Check
    package let severity: Check.Severity
    /// `native`, `web`, or nil where it does not matter.
    package let flow: String?
    package let channel: String?
    package var result: Result
    package private(set) var detail: String
    package let variants: [Variant]
    /// Why the check is no more than advice in this run; nil if it is what the catalogue says.
    package var adviceReason: String?
    /// Whether it was skipped because FILE or the options leave out what it needs.
    package var isMissing = false

    /// The same check without a verdict.
    func inconclusive(_ reason: String) -> Self {
        var result = self
        (result.result, result.detail) = (.inconclusive, reason)
        return result
    }

    package var json: JSON {
        [
            "id": .string(check.id), "slug": .string(check.slug),
            "severity": .string(severity.rawValue), "flow": flow.map(JSON.string) ?? .null,
            "channel": channel.map(JSON.string) ?? .null, "result": .string(result.rawValue),
            "detail": .string(detail),
            "variants": .array(
                variants.map {
                    [
                        "comment": .string($0.comment), "outcome": .string($0.outcome),
                        "status": $0.status.map(JSON.integer) ?? .null,
                    ]
                }),
        ]
    }

    /// The line for people, as the check ends.
    package var line: String {
        let mark =
            switch result {
            case .held: "✓"
            case .failed: "✗"
            case .advice: "!"
            case .skipped: "-"
            case .inconclusive: "?"
            }
        let name = check.slug + String(repeating: " ", count: max(0, 30 - check.slug.count))
        return "\(mark) \(check.id)  \(name)  \(detail)\(flow.map { "  (\($0))" } ?? "")"
    }
}
