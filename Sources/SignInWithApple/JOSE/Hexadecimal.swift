extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits a byte.
    public var hexadecimal: String {
        var text = ""
        for byte in self {
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return text
    }
}
