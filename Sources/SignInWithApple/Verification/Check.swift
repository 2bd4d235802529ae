/// One thing that was looked at, and what was found.
public struct Check: Hashable, Sendable {
    /// How it went.
    public enum Status: String, Sendable {
        /// As it must be.
        case passed
        /// Not as it must be.
        case failed
        /// Not looked at, because something before it failed or nothing was given to compare.
        case skipped
    }

    /// What was looked at, in snake_case: a script may look for it.
    public let name: String
    /// How it went.
    public let status: Status
    /// What was found, and what was expected; nil when there is nothing to say.
    public var detail: String? {
        guard let moment else { return words.isEmpty ? nil : words }
        return words + moment.rfc3339
    }

    /// ``detail`` up to the moment at its end: of a million tokens that pass, nobody reads when
    /// most expire.
    private let words: String
    private let moment: NumericDate?

    private init(
        _ name: String, _ status: Status, _ words: String, _ moment: NumericDate? = nil
    ) {
        (self.name, self.status, self.words, self.moment) = (name, status, words, moment)
    }

    static func passed(_ name: String, _ detail: String = "") -> Self {
        Self(name, .passed, detail)
    }

    static func passed(_ name: String, _ words: String, _ moment: NumericDate) -> Self {
        Self(name, .passed, words, moment)
    }

    static func failed(_ name: String, _ detail: String) -> Self { Self(name, .failed, detail) }

    static func skipped(_ name: String, _ detail: String) -> Self { Self(name, .skipped, detail) }
}

extension JSON? {
    /// A claim as a check's detail shows it: short, and without control characters.
    var shown: String {
        guard let text = self?.text else { return "missing" }
        return text.count > 80 ? "\(text.prefix(80))…" : text
    }
}
