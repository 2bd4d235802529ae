extension String {
    /// At most the first 200 characters: what a client sent must not swell the log.
    var clipped: String { count > 200 ? prefix(200) + "…" : self }
}
