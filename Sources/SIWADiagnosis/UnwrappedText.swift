internal import SIWALifecycle

/// A token as people paste it, without quotation marks, line ends and labels around it.
struct UnwrappedText: Sendable {
    /// The bare text.
    private(set) var bytes: [UInt8]
    private var removed: [String] = []
    private var wasBase64 = false

    init(_ pasted: [UInt8]) {
        bytes = pasted
        // One line end is normal at the end of a file.
        if bytes.last == 0x0A { bytes.removeLast() }
        if bytes.last == 0x0D { bytes.removeLast() }
        // More layers do not occur in practice; the limit also ends a text of quotation marks only.
        for _ in 0..<8 where !peel() { break }
        // Every JOSE token begins with `{"` in base64url; other texts are not changed.
        guard bytes.starts(with: "eyJ".utf8) else { return }
        joinLines()
        useBase64URL()
    }

    /// The findings about what was removed.
    var findings: [Finding] {
        var findings: [Finding] = []
        if !removed.isEmpty {
            findings.append(
                Finding(
                    .wrapped, seen: "it has \(removed.joined(separator: " and "))",
                    advice: "use the bare token, as 'siwa secret' prints it"))
        }
        if wasBase64 {
            findings.append(
                Finding(
                    .notBase64URL, seen: "it is base64 with '+', '/' or '=', not base64url",
                    advice: "in all parts write '-' for '+' and '_' for '/', and leave '=' out"))
        }
        return findings
    }

    /// Removes one layer; false if there is no layer to remove.
    private mutating func peel() -> Bool {
        let count = bytes.count
        trim()
        for prefix in ["Bearer ", "bearer ", "client_secret=", "\u{FEFF}"]
        where bytes.starts(with: prefix.utf8) {
            bytes.removeFirst(prefix.utf8.count)
            note(prefix == "\u{FEFF}" ? "a byte order mark in front" : "'\(prefix)' in front")
        }
        if bytes.count > 1, bytes.first == bytes.last,
            bytes.first.map("\"'`".utf8.contains) ?? false
        {
            bytes = Array(bytes.dropFirst().dropLast())
            note("quotation marks around it")
        }
        return bytes.count < count
    }

    private mutating func trim() {
        let text = rangeWithoutSpace(bytes.span)
        guard text.count < bytes.count else { return }
        bytes = Array(bytes[text])
        note("spaces around it")
    }

    private mutating func joinLines() {
        guard bytes.contains(where: isSpace) else { return }
        bytes.removeAll(where: isSpace)
        note("line ends or spaces inside")
    }

    private mutating func useBase64URL() {
        let plain: [UInt8] = bytes.compactMap { byte in
            switch byte {
            case UInt8(ascii: "="): nil
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        wasBase64 = plain != bytes
        bytes = plain
    }

    private mutating func note(_ what: String) {
        if !removed.contains(what) { removed.append(what) }
    }
}
