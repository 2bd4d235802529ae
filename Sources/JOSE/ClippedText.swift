extension String {
    /// The first `limit` characters of Unicode, with an ellipsis if there are more. Not characters
    /// as a reader counts them: one of those can consist of thousands.
    package func clipped(to limit: Int) -> String {
        guard utf8.count > limit, unicodeScalars.count > limit else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(limit))) + "…"
    }
}
