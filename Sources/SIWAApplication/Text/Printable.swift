internal import SIWACommandTable
internal import SIWAJOSE

/// Untrusted text made safe to show: secrets masked, shortened to `limit` characters, control
/// characters replaced.
package func printable(_ text: String, limit: Int = 200) -> String {
    maskingSecrets(in: text).clipped(to: limit).withoutControls
}

/// The text without its last line end: ``Report`` adds one to every text.
package func withoutLineEnd(_ text: String) -> String {
    text.hasSuffix("\n") ? String(text.dropLast()) : text
}
