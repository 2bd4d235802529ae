internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle

/// `siwa batch verify`: verifies many identity tokens.
struct BatchVerifyCommand: Command {
    static let name = "batch verify"
    static let abstract = "Verify many identity tokens."
    static let discussion = """
        Each input line is one item: an identity token, or JSON {"id", "token", "client_id"?, \
        "at"?, "nonce"?, "code"?, "access_token"?}; id_token is another name for token. client_id \
        replaces --audience, and the other members replace the flags of 'siwa verify'.

        Each output line is the result of one item, in the order of the input: {"line", "id", \
        "status", "exit_code", …} with what 'siwa verify' prints. The status is done (the token is \
        valid), refused (it is not valid; error names the failed checks), failed (its key is not \
        available) or invalid (the line is not an item).

        Apple's keys are fetched once. Without keys the run stops; continue it with --resume.
        """
    static let examples = [
        Example(
            "siwa batch verify --input tokens.jsonl --output results.jsonl",
            "Verify every token of a file on all processors."),
        Example(
            "siwa batch verify --input - --jwks keys.json --at 2019-06-05T04:40:00Z < old.txt",
            "Verify old tokens with the keys of their time."),
        Example(
            "siwa batch verify --input tokens.jsonl --only refused,failed,invalid",
            "Print only the invalid tokens."),
    ]
    static let parameters: [Parameter<Self>] =
        BatchOptions.localParameters(at: \.batch) + [
            .option(
                "concurrency", \.workers, value: "N",
                help: "Verify N tokens at the same time (one per processor unless set)."),
            .option(
                "only", \.filter, value: "STATUS,…",
                help: "Write only results with these statuses: done, refused, failed, invalid."),
            .flag(
                "dry-run", \.isDryRun,
                help: "Print the request for Apple's keys that may be sent; send nothing."),
        ] + VerificationOptions.parameters(at: \.verification)
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var verification = VerificationOptions()
    var batch = BatchOptions()
    var workers: Int?
    var filter: StatusFilter?
    var isDryRun = false

    func run(in world: World) async throws {
        try world.metrics.begin(batch.metrics, global, in: world)
        let workers = workers ?? min(world.processors, Self.mostWorkers)
        guard (1...Self.mostWorkers).contains(workers) else {
            throw UsageError.Problem.misuse(
                "--concurrency must be between 1 and \(Self.mostWorkers)",
                hint: "use at most the number of processors")
        }
        guard filter == nil || !batch.isResuming else {
            throw UsageError.Problem.misuse(
                "--only and --resume exclude each other: --resume needs the results of all lines",
                hint: "remove one of the two flags")
        }
        let verifying = try Verifying(global, verification, in: world)
        guard !isDryRun else { return try dryRun(verifying) }
        try await VerifyBatch(
            verifying: verifying, options: batch, filter: filter ?? .all, workers: workers
        ).run()
    }

    /// Prints the only possible request, which is sent if the cache has no fresh keys.
    private func dryRun(_ verifying: Verifying) throws {
        try batch.check()
        let needsNetwork = try verifying.givenKeySet() == nil && !verifying.isOffline
        let url = try verifying.session.settings.baseURL().url(of: .keys)
        let request: JSON = [
            "method": "GET", "url": .string(url), "headers": [:], "parameters": [:],
        ]
        try verifying.session.report(
            Report(["dry_run": true, "requests": .array(needsNetwork ? [request] : [])]))
    }

    private static let mostWorkers = 64
}
