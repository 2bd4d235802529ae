internal import CommandTable
package import JOSE

/// Untrusted text made safe to show: secrets masked, control characters replaced, cut at `limit`.
package func printable(_ text: String, limit: Int = 200) -> String {
    let scalars = maskingSecrets(in: text).unicodeScalars
    let safe = scalars.prefix(limit).map { scalar in
        scalar.isTreacherous ? "?" : Character(scalar)
    }
    return String(safe) + (scalars.count > limit ? "…" : "")
}

extension JSON {
    /// On one line, with the characters escaped that could control a terminal; JSON does not require that.
    package var safeText: String {
        text.unicodeScalars.map { scalar in
            guard scalar.isTreacherous, scalar.value <= 0xFFFF else { return String(scalar) }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}

extension Unicode.Scalar {
    /// Whether it can control a terminal, or change the order in which a line is read.
    fileprivate var isTreacherous: Bool {
        value < 0x20 || (0x7F..<0xA0).contains(value) || properties.generalCategory == .format
    }
}

/// The text without its last line end: ``Report`` adds one to every text.
func withoutLineEnd(_ text: String) -> String {
    text.hasSuffix("\n") ? String(text.dropLast()) : text
}
