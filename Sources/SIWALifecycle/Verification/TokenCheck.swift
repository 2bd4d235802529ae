internal import SIWACrypto
package import SIWAJOSE

/// The result of one check.
package struct TokenCheck: Sendable {
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
        /// `nbf`; checked only if it is present.
        case notBefore = "not_before"
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
    package var detail: String? { words.map { $0.text + (moment?.rfc3339 ?? "") } }

    private let words: Words?
    /// The time at the end of ``detail``; nil if absent. Most results of a batch do not show it, so
    /// its text is created only when it is needed.
    package let moment: NumericDate?

    /// ``detail`` without its moment.
    private enum Words {
        case fixed(StaticString)
        case found(String)

        var text: String {
            switch self {
            case .fixed(let text): "\(text)"
            case .found(let text): text
            }
        }
    }

    /// Whether it differs from `other` only in ``moment``.
    package func isSameButMoment(_ other: Self) -> Bool {
        guard subject == other.subject, status == other.status,
            (moment == nil) == (other.moment == nil)
        else { return false }
        return switch (words, other.words) {
        case (nil, nil): true
        case (.fixed(let one)?, .fixed(let other)?): one.isExactly(other)
        case (.found(let one)?, .found(let other)?): one.isExactly(other)
        default: false
        }
    }

    private init(
        _ subject: Subject, _ status: Status, _ words: Words?, _ moment: NumericDate? = nil
    ) {
        (self.subject, self.status, self.words, self.moment) = (subject, status, words, moment)
    }

    static func passed(_ subject: Subject) -> Self { Self(subject, .passed, nil) }

    static func passed(_ subject: Subject, _ found: String) -> Self {
        Self(subject, .passed, .found(found))
    }

    static func passed(_ subject: Subject, _ words: StaticString, _ moment: NumericDate) -> Self {
        Self(subject, .passed, .fixed(words), moment)
    }

    static func failed(_ subject: Subject, _ detail: String) -> Self {
        Self(subject, .failed, .found(detail))
    }

    static func skipped(_ subject: Subject, _ reason: StaticString) -> Self {
        Self(subject, .skipped, .fixed(reason))
    }
}

extension ArraySlice<TokenCheck> {
    /// Whether they differ from `other` only in their moments.
    package func areSameButMoments(_ other: Span<TokenCheck>) -> Bool {
        guard count == other.count else { return false }
        let checks = span
        for index in checks.indices where !checks[index].isSameButMoment(other[index]) {
            return false
        }
        return true
    }
}

extension JSON? {
    /// A claim as a check's detail shows it: short, and without control characters.
    var shown: String {
        guard let text = self?.text else { return "missing" }
        return text.count > 80 ? "\(text.prefix(80))…" : text
    }
}
