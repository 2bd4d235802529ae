package import JOSE

/// An event in the server's log, without secrets.
package struct ServiceEvent: Sendable {
    /// How severe the event is.
    package enum Level: String, Sendable {
        case info, warning, error
    }

    /// `level` in the log.
    package let level: Level
    /// The name of the event, in snake_case.
    package let name: String
    /// The further members of the line, in their order.
    package let members: [JSON.Member]

    /// Creates an event.
    package init(_ level: Level, _ name: String, _ members: [JSON.Member] = []) {
        (self.level, self.name, self.members) = (level, name, members)
    }
}

/// Writes events to the log.
package typealias ServiceLog = @Sendable (ServiceEvent) -> Void
