internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

/// The current values of all gauges.
struct Gauges {
    /// Nil if the database is unavailable; its gauges are then omitted.
    let counts: ServerCounts?
    /// When the client_secret of each profile expires.
    let secretExpiries: [(profile: String, expiresAt: NumericDate)]
    /// Whether Apple refused the client of each profile in its last answer.
    var refusals: [(profile: String, isRefused: Bool)] = []
    /// Nil before the first fetch.
    let keySetAge: Duration?
    /// The tokens that wait to be stored.
    let unsavedTokens: Int
    /// Apple's time minus this machine's; nil if it was not measured within the last hour.
    let clockSkew: Duration?

    func families() -> [MetricFamily] { inbox + revocations + others }

    private var inbox: [MetricFamily] {
        [
            MetricFamily(
                "siwa_inbox_events", .gauge, "Events in the inbox, by state.",
                counts.map { counts in
                    InboxState.allCases.map {
                        .init([("state", $0.rawValue)], counts.inbox[$0] ?? 0)
                    }
                } ?? []),
            MetricFamily(
                "siwa_inbox_oldest_pending_seconds", .gauge,
                "How long the oldest event has waited for its delivery; 0 if none waits.",
                counts.map { [.init([], ($0.oldestPendingEvent ?? .zero).inSeconds)] } ?? []),
        ]
    }

    private var revocations: [MetricFamily] {
        [
            MetricFamily(
                "siwa_revocations", .gauge, "Revocations, by state.",
                counts.map { counts in
                    RevocationJob.State.allCases.map {
                        .init([("state", $0.rawValue)], counts.revocations[$0] ?? 0)
                    }
                } ?? []),
            MetricFamily(
                "siwa_revocations_given_up", .gauge,
                "Dead revocations whose tokens were not erased with their user.",
                counts.map { [.init([], $0.givenUp)] } ?? []),
            MetricFamily(
                "siwa_revocation_oldest_pending_seconds", .gauge,
                "How long the oldest revocation has waited for Apple; 0 if none waits.",
                counts.map { [.init([], ($0.oldestPendingRevocation ?? .zero).inSeconds)] } ?? []),
        ]
    }

    private var others: [MetricFamily] {
        [
            MetricFamily(
                "siwa_client_secret_expires_at_seconds", .gauge,
                "When the client_secret of a profile expires, in Unix time.",
                secretExpiries.map { .init([("profile", $0.profile)], $0.expiresAt.seconds) }),
            MetricFamily(
                "siwa_profile_refused", .gauge,
                "Whether Apple refused the client of a profile in its last answer: 1 or 0.",
                refusals.map { .init([("profile", $0.profile)], $0.isRefused ? 1 : 0) }),
            MetricFamily(
                "siwa_vault_tokens", .gauge, "Tokens in the vault, by client and state.",
                (counts?.tokens ?? [:]).flatMap { client, states in
                    states.map {
                        .init(
                            [("client_id", client.rawValue), ("state", $0.key.rawValue)], $0.value)
                    }
                }),
            MetricFamily(
                "siwa_last_validation_timestamp_seconds", .gauge,
                "When a stored token was last validated, by anybody, in Unix time.",
                (counts?.lastValidation).map { [.init([], $0.seconds)] } ?? []),
            MetricFamily(
                "siwa_unsaved_tokens", .gauge,
                "Refresh tokens that wait to be stored: in memory, and in the file unsaved-tokens.",
                [.init([], unsavedTokens)]),
            MetricFamily(
                "siwa_key_set_age_seconds", .gauge, "The age of Apple's key set.",
                keySetAge.map { [.init([], $0.inSeconds)] } ?? []),
            MetricFamily(
                "siwa_clock_skew_seconds", .gauge,
                "Apple's time minus this machine's: above 0 if this machine's clock is slow.",
                clockSkew.map { [.init([], $0.components.seconds)] } ?? []),
            MetricFamily(
                "siwa_build_info", .gauge, "Always 1; the label is the version.",
                [.init([("version", version)], 1)]),
        ]
    }
}

extension ServerContext {
    /// The current gauges.
    func gauges() async -> Gauges {
        let clients = clients.current.all
        return Gauges(
            counts: try? await counts.current(),
            secretExpiries: clients.compactMap { client in
                (try? client.secrets.expiry(at: clocks.now())).map { (client.name, $0) }
            }, refusals: clients.map { ($0.name, metrics.isRefused($0.name)) },
            keySetAge: keys.age, unsavedTokens: journal.writes.unsavedTokens, clockSkew: clock.skew)
    }
}
