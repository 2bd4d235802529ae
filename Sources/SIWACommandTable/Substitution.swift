extension String {
    /// The string with every occurrence of `text` replaced by `replacement`.
    ///
    /// The standard library's `replacing` links the engine of regular expressions into the program
    /// (docs/decisions/linking.md).
    func substituting(_ text: String, with replacement: String) -> String {
        let wanted = Array(text.utf8)
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.first {
            if rest.starts(with: wanted) {
                bytes += replacement.utf8
                rest.removeFirst(wanted.count)
            } else {
                bytes.append(byte)
                rest.removeFirst()
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
