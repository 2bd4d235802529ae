extension String {
    /// The text, filled with blanks up to `width` characters.
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
