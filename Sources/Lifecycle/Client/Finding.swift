package import JOSE

/// One thing that is wrong, or may be: what was seen, and what to do about it.
package struct Finding: Hashable, Sendable {
    /// How much it matters.
    package enum Severity: String, Sendable {
        /// Apple refuses it, or nothing works with it.
        case error
        /// It works, and will not for long, or not everywhere.
        case warning
        /// Worth knowing.
        case note
    }

    /// How sure it is that this is a cause.
    package enum Confidence: String, Sendable {
        /// It is visible on this machine, and Apple's rules are clear about it.
        case certain
        /// What was seen seldom has another reason.
        case likely
        /// A guess.
        case possible
    }

    /// Which cause it is.
    package let code: FindingCode
    /// How much it matters.
    package let severity: Severity
    /// How sure it is.
    package let confidence: Confidence
    /// What was seen; texts from outside in it are short.
    package let seen: String
    /// What to do, with the command that settles it where there is one.
    package let advice: String

    /// States a finding; an error that is certain unless said otherwise.
    package init(
        _ code: FindingCode, _ severity: Severity = .error, _ confidence: Confidence = .certain,
        seen: String, advice: String
    ) {
        self.code = code
        self.severity = severity
        self.confidence = confidence
        self.seen = seen
        self.advice = advice
    }

    /// The finding for machines, members in a fixed order.
    package var json: JSON {
        [
            "code": .string(code.rawValue), "severity": .string(severity.rawValue),
            "confidence": .string(confidence.rawValue), "seen": .string(seen),
            "advice": .string(advice),
        ]
    }
}

extension [Finding] {
    /// The likeliest cause first: errors before warnings, the certain before the possible,
    /// then by how often people meet them.
    package var ranked: [Finding] {
        // Sorting is not promised to keep the order of equals.
        enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
            .map(\.element)
    }
}

extension Finding {
    fileprivate var rank: Int {
        let severities: [Severity] = [.error, .warning, .note]
        let confidences: [Confidence] = [.certain, .likely, .possible]
        let places = [
            severities.firstIndex(of: severity), confidences.firstIndex(of: confidence),
            FindingCode.allCases.firstIndex(of: code),
        ]
        return places.reduce(0) { $0 * 1000 + ($1 ?? 0) }
    }
}

/// A text from outside, as a message may show it. It is shortened so much that of a PEM key given
/// as an identifier by mistake only the first characters appear, which all keys share.
package func quoted(_ text: String) -> String { "'\(text.clipped(to: 60))'" }
