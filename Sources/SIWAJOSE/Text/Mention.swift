extension String {
    /// Whether it contains `text`, byte for byte.
    ///
    /// The standard library's `contains` links the engine of regular expressions into the
    /// program (docs/decisions/linking.md).
    package func mentions(_ text: String) -> Bool {
        let bytes = Array(utf8)
        let wanted = Array(text.utf8)
        return bytes.indices.contains { bytes[$0...].starts(with: wanted) }
    }
}
