internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// The options by which a batch selects records of the vault, in place of an input.
struct VaultSelection: Sendable {
    var vault: VaultArgument?
    var states: [VaultState] = []
    var notCheckedFor: DurationArgument?
    var lease: DurationArgument?

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        all.map { $0.rerooted(at: path) }
    }

    private static let all: [Parameter<Self>] = [
        VaultArgument.option(\.vault),
        .option(
            "state", \.states, value: "STATE",
            help: "With --vault: take records in this state, in place of active ones."),
        .option(
            "not-checked-for", \.notCheckedFor, value: "DURATION",
            help: "With --vault: take records that Apple was not asked about for this long."),
        .option(
            "lease", \.lease, value: "DURATION",
            help:
                "With --vault: keep records from other runs for this long after a crash (5m unless set)."
        ),
    ]

    /// Refuses options that exclude each other.
    func check(_ batch: BatchOptions) throws(UsageError.Problem) {
        guard vault == nil || batch.input == nil else {
            throw UsageError.Problem.misuse(
                "--input and --vault exclude each other", hint: "leave one of them out")
        }
        guard vault != nil || states.isEmpty && notCheckedFor == nil && lease == nil else {
            throw UsageError.Problem.misuse(
                "--state, --not-checked-for and --lease need --vault", hint: "add --vault")
        }
        guard vault != nil || batch.input != nil else {
            throw UsageError.Problem.misuse(
                "--input FILE or --vault is missing", hint: "name the source of the tokens")
        }
        if let lease, !(Self.shortestLease...Lease.longest).contains(lease.duration) {
            throw UsageError.Problem.misuse(
                "--lease must be between a second and an hour",
                hint: "5m is enough for most: leases are renewed while a run works")
        }
    }

    /// Claims the records of one client.
    ///
    /// - Parameters:
    ///   - states: the default states.
    ///   - interrupted: a state in which an earlier run may have left records, which are claimed in
    ///     any case.
    ///   - intent: the event that is recorded before a request is sent.
    func claim(
        _ session: Session, _ client: ClientID, _ batch: BatchOptions, states usual: [VaultState],
        interrupted: VaultState? = nil, notCheckedSince: NumericDate? = nil,
        isNewestOnly: Bool = false, intent: VaultEvent? = nil
    ) throws -> VaultClaim {
        let chosen = states.isEmpty ? usual : states
        let left = interrupted.map { chosen.contains($0) ? [] : [$0] } ?? []
        let now = session.world.clocks.now()
        let duration = lease?.duration ?? .seconds(300)
        let run = try Random.bytes(12).hexadecimal
        // Limited by the rate, because held records must be sent before their lease ends.
        let most = batch.rate.map { $0.perSecond * Int(duration.components.seconds) / 4 } ?? .max
        return VaultClaim(
            try session.vault(.statement),
            VaultFilter(
                clientID: client, states: chosen + left,
                notCheckedSince: notCheckedFor.map { now - $0.duration } ?? notCheckedSince,
                isNewestOnly: isNewestOnly),
            for: intent == nil
                ? .checking(run, duration: duration)
                : Lease(owner: run, duration: duration, isRevoking: true),
            intent: intent, size: max(1, min(2 * batch.concurrency, most)),
            keys: { try session.vaultKeys() })
    }

    private static let shortestLease = Duration.seconds(1)
}

extension VaultState: ParameterValue {}
