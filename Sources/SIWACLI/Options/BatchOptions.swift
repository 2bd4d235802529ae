internal import SIWAApplication
internal import SIWACommandTable

/// The options that batches share.
struct BatchOptions: Sendable {
    /// Nil for a batch that reads its items from a vault.
    var input: InputArgument?
    var output = OutputArgument.standard
    var concurrency = 16
    var rate: RateArgument?
    var isResuming = false
    /// The largest accepted share of refusals among the latest responses.
    var maxRefused = PercentArgument.half
    /// Whether unusual items are sent like others.
    var isAllowingUnusual = false
    var metrics: MetricsArgument?

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        (files + requests + resumption).map { $0.rerooted(at: path) }
    }

    /// With `--max-refused`, for a batch whose refusals change the state of tokens.
    static func brakedParameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        (files + requests + brake + resumption).map { $0.rerooted(at: path) }
    }

    /// With `--max-refused` and `--allow-unusual`, for a batch of revocations.
    static func revokingParameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        (files + requests + brake + shapes + resumption).map { $0.rerooted(at: path) }
    }

    /// Without the options for requests, for a batch that sends no requests.
    static func localParameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        (files + resumption).map { $0.rerooted(at: path) }
    }

    private static let files: [Parameter<Self>] = [
        .option(
            "input", \.input, value: "FILE",
            help: "Read items from FILE, one per line; - reads standard input.", completion: .file),
        .option(
            "output", \.output, value: "FILE",
            help: "Write results to FILE, one per line; it must be empty; - is standard output.",
            completion: .file),
        MetricsArgument.option(\.metrics),
    ]

    private static let requests: [Parameter<Self>] = [
        .option(
            "concurrency", \.concurrency, value: "N",
            help: "Send at most N requests at the same time."),
        .option(
            "rate", \.rate, value: "N/s",
            help: "Start at most N requests per second; on a shared vault the limit is per run."),
    ]

    private static let brake: [Parameter<Self>] = [
        .option(
            "max-refused", \.maxRefused, value: "PERCENT",
            help:
                "Stop if Apple refuses more than PERCENT of the last 200 items (100 never stops)."
        )
    ]

    private static let shapes: [Parameter<Self>] = [
        .flag(
            "allow-unusual", \.isAllowingUnusual,
            help: "Send items even if most of them do not have the shape of Apple's tokens.")
    ]

    private static let resumption: [Parameter<Self>] = [
        .flag(
            "resume", \.isResuming,
            help: "Continue an earlier run: skip the items whose results are in the output.")
    ]
}
