package import JOSE
internal import Lifecycle
internal import SIWACLI

/// The log: one JSON object a line, without secrets.
package struct ServerLog: Sendable {
    private let now: @Sendable () -> NumericDate
    private let write: @Sendable (String) -> Void
    private let showsUserIDs: Bool

    /// - Parameters:
    ///   - showsUserIDs: if false, fingerprints are logged in place of user ids.
    ///   - write: writes a line.
    package init(
        now: @escaping @Sendable () -> NumericDate, showsUserIDs: Bool = true,
        write: @escaping @Sendable (String) -> Void
    ) {
        (self.now, self.showsUserIDs, self.write) = (now, showsUserIDs, write)
    }

    /// Writes a line.
    package func callAsFunction(_ event: ServiceEvent) {
        var line = JSONLine()
        line.add("time", .string(now().rfc3339))
        line.add("level", .string(event.level.rawValue))
        line.add("event", .string(event.name))
        for member in event.members { line.add(shown(member)) }
        write(String(decoding: line.finishedWithoutLineEnd(), as: UTF8.self))
    }

    /// Writes a line.
    package func callAsFunction(
        _ level: ServiceEvent.Level, _ name: String, _ members: [JSON.Member] = []
    ) {
        self(ServiceEvent(level, name, members))
    }

    /// Writes a line about an error.
    package func callAsFunction(
        _ level: ServiceEvent.Level, _ name: String, _ problem: Problem,
        _ members: [JSON.Member] = []
    ) {
        self(
            ServiceEvent(
                level, name,
                members + [
                    .init("code", .string(problem.code)), .init("message", .string(problem.detail)),
                ]))
    }

    private func shown(_ member: JSON.Member) -> JSON.Member {
        guard !showsUserIDs, member.name == "user_id", let id = member.value.string else {
            return member
        }
        return .init("user_fingerprint", .string(SecretText(id).fingerprint))
    }
}
