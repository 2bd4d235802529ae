extension Unicode.Scalar {
    /// Whether a terminal would interpret the character instead of showing it, or show the line in
    /// another order. Texts from outside are shown without such characters.
    package var controlsTerminals: Bool {
        guard !isASCII else { return value < 0x20 || value == 0x7F }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
