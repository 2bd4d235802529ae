package import SIWAJOSE

/// A fault, or a possible one: what was seen, and what to do about it.
package struct Finding: Hashable, Sendable {
    /// How much it matters.
    package enum Severity: String, Sendable {
        /// Apple refuses it, or nothing works with it.
        case error
        /// It works, but not for long or not everywhere.
        case warning
        /// Worth knowing.
        case note
    }

    /// How sure it is that this is a cause.
    package enum Confidence: String, Sendable {
        /// It is visible on this machine, and Apple's rules are clear about it.
        case certain
        /// Other causes are rare.
        case likely
        /// A guess: other causes are as probable.
        case possible
    }

    /// Which of the known causes it is.
    package let code: FindingCode
    /// How much it matters.
    package let severity: Severity
    /// How sure it is.
    package let confidence: Confidence
    /// What was seen; texts from outside in it are short.
    package let seen: String
    /// What to do, with a command if one helps.
    package let advice: String

    /// Creates a finding; by default an error that is certain.
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

    /// The same finding in other words.
    package func rewritten(_ rewrite: (String) -> String) -> Finding {
        Finding(code, severity, confidence, seen: rewrite(seen), advice: rewrite(advice))
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
    /// The likeliest cause first: errors before warnings, certain before possible ones, then by
    /// their frequency.
    package var ranked: [Finding] {
        // Sorting is not guaranteed to be stable.
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

/// A text from outside, as a message may show it. It is so short that a PEM key given by mistake
/// shows only its header, which all keys share.
package func quoted(_ text: String) -> String { "'\(text.clipped(to: 60))'" }
