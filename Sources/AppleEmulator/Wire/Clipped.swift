internal import JOSE

extension String {
    /// At most 200 characters: what a client sent must not swell the log.
    var clipped: String { clipped(to: 200) }
}
