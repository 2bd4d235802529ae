package import JOSE

/// Something that the log of the server should show. Holds no secret.
package struct ServiceEvent: Sendable {
    /// How bad it is.
    package enum Level: String, Sendable {
        case info, warning, error
    }

    /// How bad it is.
    package let level: Level
    /// What happened, in snake_case.
    package let name: String
    /// What is known about it.
    package let members: [JSON.Member]

    /// Describes an event.
    package init(_ level: Level, _ name: String, _ members: [JSON.Member] = []) {
        (self.level, self.name, self.members) = (level, name, members)
    }
}

/// Takes events for the log.
package typealias ServiceLog = @Sendable (ServiceEvent) -> Void
