extension String {
    /// At most the first 200 characters of Unicode: what a client sent must not swell the log. What a
    /// reader calls a character can consist of thousands of them.
    var clipped: String {
        let scalars = unicodeScalars
        return scalars.count > 200
            ? String(String.UnicodeScalarView(scalars.prefix(200))) + "…" : self
    }
}
