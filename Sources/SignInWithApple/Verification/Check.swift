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
    public let detail: String?

    static func passed(_ name: String, _ detail: String? = nil) -> Self {
        Self(name: name, status: .passed, detail: detail)
    }

    static func failed(_ name: String, _ detail: String) -> Self {
        Self(name: name, status: .failed, detail: detail)
    }

    static func skipped(_ name: String, _ detail: String) -> Self {
        Self(name: name, status: .skipped, detail: detail)
    }
}

extension JSON? {
    /// A claim as a check's detail shows it: short, and without control characters.
    var shown: String {
        guard let text = self?.text else { return "missing" }
        return text.count > 80 ? "\(text.prefix(80))…" : text
    }
}
