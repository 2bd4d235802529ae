package import SIWAJOSE
internal import SIWALifecycle

/// What a server knows and the database does not: written with its heartbeat, for the person on
/// call. No user id, no token, no password.
package struct ServerFacts: Hashable, Sendable {
    /// The configuration file; nil if all settings come from the environment.
    package var configuration: String?
    /// The fingerprint of the configuration in use; nil without a file.
    package var configurationFingerprint: String?
    /// Whether the file has another one now. Set by who compares the two, and not stored.
    package var hasOldConfiguration = false
    /// The vault, without a password.
    package var vault = ""
    /// The profiles, in the order of the configuration.
    package var profiles: [Profile] = []
    /// Why the database cannot be used; nil if it can.
    package var databaseFault: String?
    /// The free bytes where an SQLite vault is; nil if that is unknown.
    package var freeSpace: Int?
    /// The free bytes without which a server with an SQLite vault is not ready.
    package static let neededSpace = 16 << 20
    /// Apple's time minus this machine's, in seconds; nil if it was not measured within the last
    /// hour.
    package var clockSkew: Int?
    /// The age of Apple's keys in seconds; nil before the first fetch.
    package var keySetAge: Int?
    /// Whether Apple's keys come from a file.
    package var isKeySetFixed = false
    /// Apple's last answer.
    package var lastAnswer: Answer?
    /// The last request to each endpoint of Apple that did not work when it was last asked.
    package var outages: [Answer] = []
    /// Apple's last answer that refused a client.
    package var lastRefusal: Answer?
    /// The requests to Apple since the start.
    package var appleTimes: Times?
    /// The answered requests since the start.
    package var requestTimes: Times?
    /// Why the vault could not be opened with the keys that are in their file now; nil if it could.
    package var vaultKeyFault: String?
    /// When a call was last given up because others held the database for too long; nil if none was.
    package var databaseBusyAt: NumericDate?
    /// The last call that the database refused, although it can be used; nil if there was none.
    package var refusedCall: RefusedCall?
    /// When a record of the vault could last not be read; nil if all could.
    package var unreadableRecordAt: NumericDate?
    /// The limit of the system that the process has reached; nil if there is none.
    package var limitFault: String?
    /// Why a start would fail now because of files besides the keys; empty if it would not.
    package var startFaults: [String] = []
    /// The files that a reload would read again, and that were changed since they were read.
    package var changedFiles: [String] = []
    /// Why the last reload failed; empty if it did not.
    package var reloadFaults: [String] = []
    /// Where it listens: `127.0.0.1:8765` or `unix:PATH`.
    package var listeners: [String] = []
    /// Why clients cannot connect to a listener, one sentence without a full stop each; empty if
    /// they can.
    package var listenerFaults: [String] = []
    /// What expires and only a person can renew.
    package var expiries: [Expiry] = []
    /// Refresh tokens that wait to be stored.
    package var unsavedTokens = 0
    /// Clients of pending revocations that are in no profile.
    package var missingProfiles: [String] = []

    /// The daily validation; nil if this server does not validate.
    package var validation: Validation?

    /// No facts.
    package init() {}

    /// What expires, and the server cannot renew itself.
    package struct Expiry: Hashable, Sendable {
        /// What it is, as the beginning of a sentence.
        package var subject: String
        /// From when it is valid; nil if it always was.
        package var validFrom: NumericDate?
        /// When it expires.
        package var at: NumericDate
        /// When that becomes a problem.
        package var warnsAt: NumericDate

        /// Warns 14 days before, and of what lives shorter when a quarter of its lifetime is left.
        package init(
            _ subject: String, validFrom: NumericDate? = nil, at: NumericDate, lifetime: Duration
        ) {
            (self.subject, self.validFrom, self.at) = (subject, validFrom, at)
            warnsAt = at - min(.seconds(14 * 86_400), lifetime / 4)
        }
    }

    /// A call that the database refused.
    package struct RefusedCall: Hashable, Sendable {
        /// When that was.
        package var at: NumericDate
        /// The error, as a sentence without a full stop.
        package var reason: String

        /// Creates a value.
        package init(at: NumericDate, reason: String) { (self.at, self.reason) = (at, reason) }

        var json: JSON {
            ["at": .string(at.rfc3339), "reason": .string(reason)]
        }

        init?(_ json: JSON) {
            guard let at = json["at"]?.date, let reason = json["reason"]?.string else { return nil }
            self.init(at: at, reason: reason)
        }
    }

    /// The daily validation, and what this server did in the current pass.
    package struct Validation: Hashable, Sendable {
        /// The time between two passes.
        package var everySeconds: Int
        /// The most checks started in a second, by all servers together.
        package var perSecond: Int
        /// When the pass began; nil before the first.
        package var beganAt: NumericDate?
        /// The tokens that Apple accepted or refused.
        package var checked = 0
        /// Those of them that no longer work.
        package var dead = 0
        /// The tokens about which Apple said nothing.
        package var failed = 0
        /// The clients whose last run ended early.
        package var faults: [ValidationFault] = []

        /// Creates a value without results.
        package init(everySeconds: Int, perSecond: Int) {
            (self.everySeconds, self.perSecond) = (everySeconds, perSecond)
        }
    }

    /// Why the last run of the daily validation ended early.
    package struct ValidationFault: Hashable, Sendable {
        /// The client whose tokens were validated.
        package var clientID: String
        /// The reason.
        package var reason: String

        /// Creates a fault.
        package init(clientID: String, reason: String) {
            (self.clientID, self.reason) = (clientID, reason)
        }
    }

    /// A profile, and the account that it uses.
    package struct Profile: Hashable, Sendable {
        /// Empty without profiles.
        package var name: String
        /// The App ID or Services ID.
        package var clientID: String
        /// The team.
        package var teamID: String
        /// The Key ID; nil if another machine mints the secrets.
        package var keyID: String?
        /// When the client_secret in use expires; nil if there is none.
        package var secretExpiresAt: NumericDate?
        /// Why no client_secret can be minted; nil if one can.
        package var fault: String?
        /// Whether Apple refused the client in its last answer.
        package var isRefused: Bool
        /// Whether its key is with a signer that has to be awaited.
        package var isSignedElsewhere = false
        /// Why the signer did not sign when it was last asked; nil if it did.
        package var signerFault: String?
        /// The fingerprint of the public half of the key in use; nil if there is none here.
        package var keyFingerprint: String?
        /// How the key that is in its file now differs from the one in use; nil if it does not.
        package var keyFault: String?
        /// Whether ``keyFault`` is about a file of which the server has its unit's copy. Set by who
        /// compares the two, and not stored.
        package var hasCopiedKey = false
        /// Whether Apple has accepted or refused the client since the start.
        package var isTried = true

        /// Creates a profile.
        package init(
            name: String, clientID: String, teamID: String, keyID: String?,
            secretExpiresAt: NumericDate?, fault: String?, isRefused: Bool
        ) {
            (self.name, self.clientID, self.teamID) = (name, clientID, teamID)
            (self.keyID, self.secretExpiresAt) = (keyID, secretExpiresAt)
            (self.fault, self.isRefused) = (fault, isRefused)
        }

        /// Whether a client_secret is there, or would be minted for the next request.
        package func hasSecret(at now: NumericDate) -> Bool {
            fault == nil && (keyID != nil || secretExpiresAt.map { $0 > now } ?? false)
        }
    }

    /// An answer of Apple.
    package struct Answer: Hashable, Sendable {
        /// When it came.
        package var at: NumericDate
        /// `token`, `revoke` or `keys`.
        package var endpoint: String
        /// `ok`, Apple's error code, a status, or why there was no response.
        package var outcome: String
        /// The profile that asked; empty without profiles.
        package var profile: String

        /// Creates an answer.
        package init(at: NumericDate, endpoint: String, outcome: String, profile: String) {
            (self.at, self.endpoint) = (at, endpoint)
            (self.outcome, self.profile) = (outcome, profile)
        }
    }

    /// How long requests took.
    package struct Times: Hashable, Sendable {
        /// The number of requests.
        package var count: Int
        /// At most this many milliseconds, for half of them; nil if longer than is measured.
        package var medianMilliseconds: Int?
        /// The same for 99 of 100.
        package var p99Milliseconds: Int?

        /// Creates times.
        package init(count: Int, medianMilliseconds: Int?, p99Milliseconds: Int?) {
            self.count = count
            self.medianMilliseconds = medianMilliseconds
            self.p99Milliseconds = p99Milliseconds
        }
    }
}

// In the database and in `siwa status --json`.
extension ServerFacts {
    /// The members of a server in `siwa status --json`, in their order.
    package var members: [JSON.Member] {
        [
            .init("configuration", configuration.json),
            .init("configuration_fingerprint", configurationFingerprint.json),
            .init("vault", .string(vault)),
            .init("profiles", .array(profiles.map(\.json))),
            .init("database_fault", databaseFault.json), .init("free_bytes", freeSpace.json),
            .init("clock_skew_seconds", clockSkew.json),
            .init("key_set_age_seconds", keySetAge.json),
            .init("key_set_from_file", .boolean(isKeySetFixed)),
            .init("last_answer", lastAnswer?.json ?? .null),
            .init("outages", .array(outages.map(\.json))),
            .init("last_refusal", lastRefusal?.json ?? .null),
            .init("apple", appleTimes?.json ?? .null),
            .init("requests", requestTimes?.json ?? .null),
            .init("vault_key_fault", vaultKeyFault.json),
            .init("database_busy_at", (databaseBusyAt?.rfc3339).json),
            .init("refused_call", refusedCall?.json ?? .null),
            .init("unreadable_record_at", (unreadableRecordAt?.rfc3339).json),
            .init("limit_fault", limitFault.json),
            .init("start_faults", .array(startFaults.map { .string($0) })),
            .init("changed_files", .array(changedFiles.map { .string($0) })),
            .init("reload_faults", .array(reloadFaults.map { .string($0) })),
            .init("listeners", .array(listeners.map { .string($0) })),
            .init("listener_faults", .array(listenerFaults.map { .string($0) })),
            .init("expiries", .array(expiries.map(\.json))),
            .init("unsaved_tokens", .integer(unsavedTokens)),
            .init("clients_without_profile", .array(missingProfiles.map { .string($0) })),
            .init("validation", validation?.json ?? .null),
        ]
    }

    /// Reads what a server wrote, perhaps one of another version: unknown members are ignored, and
    /// absent ones are as in ``init()``.
    package init(_ json: JSON) {
        configuration = json["configuration"]?.string
        configurationFingerprint = json["configuration_fingerprint"]?.string
        vault = json["vault"]?.string ?? ""
        profiles = (json["profiles"]?.elements ?? []).map(Profile.init)
        databaseFault = json["database_fault"]?.string
        freeSpace = json["free_bytes"]?.integer
        clockSkew = json["clock_skew_seconds"]?.integer
        keySetAge = json["key_set_age_seconds"]?.integer
        isKeySetFixed = json["key_set_from_file"]?.boolean ?? false
        lastAnswer = json["last_answer"].flatMap(Answer.init)
        outages = (json["outages"]?.elements ?? []).compactMap(Answer.init)
        lastRefusal = json["last_refusal"].flatMap(Answer.init)
        appleTimes = json["apple"].flatMap(Times.init)
        requestTimes = json["requests"].flatMap(Times.init)
        databaseBusyAt = json["database_busy_at"]?.date
        refusedCall = json["refused_call"].flatMap(RefusedCall.init)
        unreadableRecordAt = json["unreadable_record_at"]?.date
        vaultKeyFault = json["vault_key_fault"]?.string
        limitFault = json["limit_fault"]?.string
        startFaults = (json["start_faults"]?.elements ?? []).compactMap(\.string)
        changedFiles = (json["changed_files"]?.elements ?? []).compactMap(\.string)
        reloadFaults = (json["reload_faults"]?.elements ?? []).compactMap(\.string)
        listeners = (json["listeners"]?.elements ?? []).compactMap(\.string)
        listenerFaults = (json["listener_faults"]?.elements ?? []).compactMap(\.string)
        expiries = (json["expiries"]?.elements ?? []).compactMap(Expiry.init)
        unsavedTokens = json["unsaved_tokens"]?.integer ?? 0
        missingProfiles = (json["clients_without_profile"]?.elements ?? []).compactMap(\.string)
        validation = json["validation"].flatMap(Validation.init)
    }
}

extension ServerFacts.Profile {
    fileprivate var json: JSON {
        [
            "profile": .string(name), "client_id": .string(clientID), "team_id": .string(teamID),
            "key_id": keyID.json, "secret_expires_at": (secretExpiresAt?.rfc3339).json,
            "fault": fault.json, "refused": .boolean(isRefused),
            "signed_elsewhere": .boolean(isSignedElsewhere), "signer_fault": signerFault.json,
            "key_fingerprint": keyFingerprint.json, "key_fault": keyFault.json,
            "tried": .boolean(isTried),
        ]
    }

    fileprivate init(_ json: JSON) {
        self.init(
            name: json["profile"]?.string ?? "", clientID: json["client_id"]?.string ?? "",
            teamID: json["team_id"]?.string ?? "", keyID: json["key_id"]?.string,
            secretExpiresAt: json["secret_expires_at"]?.date, fault: json["fault"]?.string,
            isRefused: json["refused"]?.boolean ?? false)
        isSignedElsewhere = json["signed_elsewhere"]?.boolean ?? false
        signerFault = json["signer_fault"]?.string
        keyFingerprint = json["key_fingerprint"]?.string
        keyFault = json["key_fault"]?.string
        isTried = json["tried"]?.boolean ?? true
    }
}

extension ServerFacts.Expiry {
    fileprivate var json: JSON {
        [
            "subject": .string(subject), "valid_from": (validFrom?.rfc3339).json,
            "expires_at": .string(at.rfc3339),
            "problem_from": .string(warnsAt.rfc3339),
        ]
    }

    fileprivate init?(_ json: JSON) {
        guard let subject = json["subject"]?.string, let at = json["expires_at"]?.date,
            let warnsAt = json["problem_from"]?.date
        else { return nil }
        (self.subject, self.at, self.warnsAt) = (subject, at, warnsAt)
        validFrom = json["valid_from"]?.date
    }
}

extension ServerFacts.Answer {
    /// Whether there was no answer, or none that Apple gives while it works.
    package var isOutage: Bool {
        if let kind = TransportError.Kind(rawValue: outcome) { return kind != .cancelled }
        return outcome.hasPrefix("status_5") || outcome == "status_429" || isUnreadable
    }

    /// Whether what was received is nothing that Apple answers.
    package var isUnreadable: Bool { outcome.hasPrefix("unreadable_") }

    /// Whether there was an answer.
    package var hasAnswer: Bool { TransportError.Kind(rawValue: outcome) == nil }

    /// Whether another server than Apple's answered, or this machine does not know Apple's authority.
    package var hasNoTrust: Bool {
        [.certificate, .authorities].contains(TransportError.Kind(rawValue: outcome))
    }

    fileprivate var json: JSON {
        [
            "at": .string(at.rfc3339), "endpoint": .string(endpoint),
            "outcome": .string(outcome), "profile": .string(profile),
        ]
    }

    fileprivate init?(_ json: JSON) {
        guard let at = json["at"]?.date, let endpoint = json["endpoint"]?.string,
            let outcome = json["outcome"]?.string
        else { return nil }
        self.init(
            at: at, endpoint: endpoint, outcome: outcome,
            profile: json["profile"]?.string ?? "")
    }
}

extension ServerFacts.Validation {
    fileprivate var json: JSON {
        [
            "every_seconds": .integer(everySeconds), "per_second": .integer(perSecond),
            "began_at": (beganAt?.rfc3339).json, "checked": .integer(checked),
            "dead": .integer(dead), "failed": .integer(failed),
            "faults": .array(
                faults.map {
                    ["client_id": .string($0.clientID), "reason": .string($0.reason)]
                }),
        ]
    }

    fileprivate init?(_ json: JSON) {
        guard let every = json["every_seconds"]?.integer, let rate = json["per_second"]?.integer
        else { return nil }
        self.init(everySeconds: every, perSecond: rate)
        beganAt = json["began_at"]?.date
        checked = json["checked"]?.integer ?? 0
        dead = json["dead"]?.integer ?? 0
        failed = json["failed"]?.integer ?? 0
        faults = (json["faults"]?.elements ?? []).map {
            ServerFacts.ValidationFault(
                clientID: $0["client_id"]?.string ?? "", reason: $0["reason"]?.string ?? "")
        }
    }
}

extension ServerFacts.Times {
    fileprivate var json: JSON {
        [
            "count": .integer(count), "median_ms": medianMilliseconds.json,
            "p99_ms": p99Milliseconds.json,
        ]
    }

    fileprivate init?(_ json: JSON) {
        guard let count = json["count"]?.integer else { return nil }
        self.init(
            count: count, medianMilliseconds: json["median_ms"]?.integer,
            p99Milliseconds: json["p99_ms"]?.integer)
    }
}

extension String? {
    fileprivate var json: JSON { map { .string($0) } ?? .null }
}

extension Int? {
    fileprivate var json: JSON { map { .integer($0) } ?? .null }
}

extension JSON {
    fileprivate var date: NumericDate? { string.flatMap(NumericDate.init(rfc3339:)) }
}
