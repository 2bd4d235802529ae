/// Whether the user seems to be a real person (Apple: `ASUserDetectionStatus`).
///
/// An open set, because a number that Apple adds later must reach the caller.
package struct RealUserStatus: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    package let rawValue: Int

    /// Creates a status from any number.
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The device cannot tell.
    package static let unsupported = Self(rawValue: 0)
    /// Not determined: treat the user like any new user.
    package static let unknown = Self(rawValue: 1)
    /// Probably a person.
    package static let likelyReal = Self(rawValue: 2)

    /// The name in snake_case; nil for a number without one.
    package var name: String? {
        switch self {
        case .unsupported: "unsupported"
        case .unknown: "unknown"
        case .likelyReal: "likely_real"
        default: nil
        }
    }
}
