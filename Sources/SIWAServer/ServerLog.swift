internal import CommandTable
package import JOSE
internal import Lifecycle
internal import SIWACLI

/// The log: one JSON object per line, without secrets.
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
        line.add("time", now().rfc3339)
        line.add("level", event.level.rawValue)
        line.add("event", event.name)
        let userIDs = event.members.filter { $0.name == "user_id" }.compactMap(\.value.string)
        for member in event.members { line.add(shown(member, userIDs)) }
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

    /// Masks values from callers: a secret may have been sent in the wrong member.
    private func shown(_ member: JSON.Member, _ userIDs: [String]) -> JSON.Member {
        guard Self.freeTexts.contains(member.name), let text = member.value.string else {
            return member
        }
        guard !showsUserIDs else { return .init(member.name, .string(maskingSecrets(in: text))) }
        return member.name == "user_id"
            ? .init("user_fingerprint", .string(SecretText(text).fingerprint))
            : .init(
                member.name, .string(maskingSecrets(in: hidingUserIDs(userIDs, in: text))))
    }

    private static let freeTexts: Set = ["user_id", "client_id", "message", "reason"]
}
