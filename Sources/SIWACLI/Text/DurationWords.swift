extension Duration {
    /// `2 minutes`.
    var inMinutes: String {
        let minutes = components.seconds / 60
        return minutes == 1 ? "1 minute" : "\(minutes) minutes"
    }

    /// `0.123 s`.
    var inSeconds: String {
        let milliseconds =
            components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        let fraction = String(milliseconds % 1000)
        return "\(milliseconds / 1000)."
            + String(repeating: "0", count: 3 - fraction.count) + "\(fraction) s"
    }
}
