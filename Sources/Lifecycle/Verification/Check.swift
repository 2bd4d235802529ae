package import JOSE

/// One thing that was examined, and what was found.
package struct Check: Hashable, Sendable {
    /// How it went.
    package enum Status: String, Sendable {
        /// As it must be.
        case passed
        /// Not as it must be.
        case failed
        /// Skipped, because an earlier check failed or no value was given to compare.
        case skipped
    }

    /// What can be looked at, as results name it.
    package enum Subject: String, CaseIterable, Sendable {
        /// Whether it is a JWS in compact serialization.
        case format
        /// The header's `alg`, and that the header has no critical extensions.
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
        /// Whether there is an identity token at all.
        case identityToken = "identity_token"
    }

    /// What was examined.
    package let subject: Subject
    /// How it went.
    package let status: Status
    /// ``subject`` in snake_case: a script may look for it.
    package var name: String { subject.rawValue }

    /// What was found, and what was expected; nil if there is no detail.
    package var detail: String? {
        guard let moment else { return words.isEmpty ? nil : words }
        return words + moment.rfc3339
    }

    /// ``detail`` without the time at its end: a batch does not print when each of a million valid
    /// tokens expires.
    private let words: String
    /// The time at the end of ``detail``; nil if absent.
    package let moment: NumericDate?

    /// Whether it differs from `other` in nothing but ``moment``.
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
