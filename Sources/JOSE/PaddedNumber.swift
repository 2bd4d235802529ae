extension Int {
    /// At least `width` digits, upper-case, with leading zeros after the sign.
    package func padded(to width: Int, radix: Int = 10) -> String {
        let digits = String(magnitude, radix: radix, uppercase: true)
        let zeros = String(repeating: "0", count: Swift.max(0, width - digits.count))
        return (self < 0 ? "-" : "") + zeros + digits
    }
}
