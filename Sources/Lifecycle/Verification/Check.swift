package import JOSE

/// The result of one check.
package struct Check: Hashable, Sendable {
    /// Whether the value passed.
    package enum Status: String, Sendable {
        /// The value is valid.
        case passed
        /// The value is invalid.
        case failed
        /// Skipped, because an earlier check failed or no value was given to compare.
        case skipped
    }

    /// The subject of a check, by its name in results.
    package enum Subject: String, CaseIterable, Sendable {
        /// Whether it is a JWS in compact serialization.
        case format
        /// The header's `alg`, and the absence of critical extensions.
        case algorithm
        /// Whether `kid` names one of Apple's keys.
        case key
        /// Whether that key signed it.
        case signature
        /// `iss`.
        case issuer
        /// `aud`.
        case audience
        /// `exp`.
        case expiry
        /// `iat`.
        case issuedAt = "issued_at"
        /// `sub`.
        case subject
        /// `nonce`.
        case nonce
        /// `c_hash`.
        case cHash = "c_hash"
        /// `at_hash`.
        case atHash = "at_hash"
        /// `events`.
        case event
        /// `jti`.
        case jti
        /// Whether an identity token exists.
        case identityToken = "identity_token"
    }

    /// The subject of the check.
    package let subject: Subject
    /// Whether it passed.
    package let status: Status
    /// ``subject`` in snake_case, for scripts.
    package var name: String { subject.rawValue }

    /// What was found, and what was expected; nil if there is no detail.
    package var detail: String? {
        guard let moment else { return words.isEmpty ? nil : words }
        return words + moment.rfc3339
    }

    /// ``detail`` without the time at its end. Most results of a batch do not show the detail, so
    /// the text is created only when it is needed.
    private let words: String
    /// The time at the end of ``detail``; nil if absent.
    package let moment: NumericDate?

    /// Whether it differs from `other` only in ``moment``.
    package func isSameButMoment(_ other: Self) -> Bool {
        subject == other.subject && status == other.status && words.isExactly(other.words)
            && (moment == nil) == (other.moment == nil)
    }

    private init(
        _ subject: Subject, _ status: Status, _ words: String, _ moment: NumericDate? = nil
    ) {
        (self.subject, self.status, self.words, self.moment) = (subject, status, words, moment)
    }

    static func passed(_ subject: Subject, _ detail: String = "") -> Self {
        Self(subject, .passed, detail)
    }

    static func passed(_ subject: Subject, _ words: String, _ moment: NumericDate) -> Self {
        Self(subject, .passed, words, moment)
    }

    static func failed(_ subject: Subject, _ detail: String) -> Self {
        Self(subject, .failed, detail)
    }

    static func skipped(_ subject: Subject, _ detail: String) -> Self {
        Self(subject, .skipped, detail)
    }
}

extension JSONText.Value? {
    /// A claim as a check's detail shows it.
    var shown: String { (self?.json).shown }
}

extension JSON? {
    /// A claim as a check's detail shows it: short, and without control characters.
    var shown: String {
        guard let text = self?.text else { return "missing" }
        return text.count > 80 ? "\(text.prefix(80))…" : text
    }
}
