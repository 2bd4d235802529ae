package import SIWAJOSE
internal import SIWALifecycle
import SIWAServerRecords
internal import SIWAVaultRecords

extension InboxEntry {
    /// The event in a list, its members in their order.
    package var members: [JSON.Member] {
        [.init("jti", .string(id.rawValue)), .init("type", .string(type))]
            + [
                .init("user_id", shownUserID.map { .string($0) } ?? .null),
                .init("client_id", .string(user.clientID.rawValue)),
                .init("event_time", shownTime.map { .string($0) } ?? .null),
                .init("received_at", .string(receivedAt.rfc3339)),
                .init("state", .string(state.rawValue)), .init("attempts", .integer(attempts)),
                .init("next_attempt_at", nextAttemptAt.map { .string($0.rfc3339) } ?? .null),
            ]
    }

    /// The user; nil for events about none that is known.
    private var shownUserID: String? {
        user.userID == InboxEvent.unknownUser ? nil : user.userID.rawValue
    }

    /// The time of the event; nil for events without one.
    private var shownTime: String? {
        occurredAt == InboxEvent.timeless ? nil : occurredAt.rfc3339
    }

    /// Further members: why the last attempt failed, and the delivered body.
    package var detailMembers: [JSON.Member] {
        let content = body.map { bytes -> JSON in
            let event = state.isVerified ? try? JSON(bytes) : nil
            return event ?? .string(String(decoding: bytes, as: UTF8.self))
        }
        let waiting = waitsFor.map {
            "it waits behind the event \($0) of the same user, which is sent first"
        }
        return [
            .init("last_error", (lastError ?? waiting).map { .string($0) } ?? .null),
            .init(state.isVerified ? "event" : "payload", content ?? .null),
        ]
    }
}

extension RevocationStatus {
    /// The request, its members in their order.
    package var members: [JSON.Member] {
        let errors = jobs.compactMap(\.lastError)
        return [
            .init("revocation_id", .string(request.id)),
            .init("state", .string(state.rawValue)),
            .init("client_id", request.clientID.map { .string($0.rawValue) } ?? .null),
            .init("user_id", request.userID.map { .string($0.rawValue) } ?? .null),
            .init("requested_at", .string(request.requestedAt.rfc3339)),
            .init("ended_at", endedAt.map { .string($0.rfc3339) } ?? .null),
            .init("attempts", .integer(attempts)),
            .init("next_attempt_at", nextAttemptAt.map { .string($0.rfc3339) } ?? .null),
            .init("last_error", errors.last.map { .string("\($0)") } ?? .null),
            .init(
                "tokens",
                .array(jobs.map { .string($0.fingerprint.rawValue) })),
        ]
    }

    /// The largest number of attempts for one of its tokens.
    package var attempts: Int { jobs.map(\.attempts).max() ?? 0 }

    /// When the next attempt for one of its tokens is due.
    package var nextAttemptAt: NumericDate? { jobs.compactMap(\.nextAttemptAt).min() }
}
