internal import SIWAJOSE

extension String {
    /// At most 200 characters: a client must not be able to fill the log.
    var clipped: String { clipped(to: 200) }
}
