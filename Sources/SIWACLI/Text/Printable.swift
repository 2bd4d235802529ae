internal import CommandTable
internal import JOSE

/// Untrusted text made safe to show: secrets masked, control characters replaced, cut at `limit`.
package func printable(_ text: String, limit: Int = 200) -> String {
    withoutControls(maskingSecrets(in: text), limit: limit)
}

/// Untrusted text that is no secret, made safe to show: control characters replaced, cut at
/// `limit`.
func withoutControls(_ text: String, limit: Int) -> String {
    let scalars = text.unicodeScalars
    let safe = scalars.prefix(limit).map { scalar in
        scalar.controlsTerminals ? "?" : Character(scalar)
    }
    return String(safe) + (scalars.count > limit ? "…" : "")
}

/// The text without its last line end: ``Report`` adds one to every text.
func withoutLineEnd(_ text: String) -> String {
    text.hasSuffix("\n") ? String(text.dropLast()) : text
}
