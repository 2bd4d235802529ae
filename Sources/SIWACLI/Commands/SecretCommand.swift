internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// `siwa secret`: mints a client_secret.
struct SecretCommand: Command {
    static let name = "secret"
    static let abstract = "Mint a client_secret."
    static let discussion = """
        The secret is a JWT signed with ES256. The client uses it in token requests until it \
        expires. iat is set one minute back to tolerate clock skew; the lifetime counts from now. \
        The signature is verified before anything is printed.

        --out with --renew-within in a daily cron job rotates the secret: the secret in the file is \
        replaced unless it is valid, is for the same team, client and key, and lasts longer than \
        --renew-within. What was written, and how long it is valid, is reported on standard error.

        FILE is replaced only if it is empty or holds one JWT; anything else, such as a private \
        key that was named by mistake, is exit 2 and stays as it is. Devices and pipes are \
        written as they are.

        --deploy runs PROGRAM after FILE was replaced, without a shell and without arguments: the \
        secret is its standard input, SIWA_CLIENT_ID, SIWA_TEAM_ID, SIWA_KEY_ID and SIWA_EXPIRES_AT \
        are set, variables that hold secrets are not passed on, and its output goes to standard \
        error: with --json one object a line, {"deploy":{"line":"..."}}. If it fails or takes \
        longer than 60 s, the exit code is 8, FILE.deploy-pending remains, and every run with \
        --deploy repeats it until it has succeeded.
        """
    static let examples = [
        Example("siwa secret", "Print a secret that is valid for five minutes."),
        Example(
            "siwa secret --lifetime 90d --out apple.secret --renew-within 30d",
            "Keep a file whose secret is always valid for at least thirty days."),
        Example(
            """
            siwa secret --lifetime 90d --out apple.secret --renew-within 30d \
            --deploy /usr/share/siwa/hooks/supabase
            """, "The same, and hand each new secret to the software that uses it."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option(
                "lifetime", \.lifetime, value: "DURATION",
                help: "How long the secret is valid, at most 15777000 s (5m unless set)."),
            .option(
                "expires-at", \.expiresAt, value: "TIME",
                help: "When the secret expires, such as 2026-11-21T08:30:00Z; replaces --lifetime."),
            .option(
                "out", \.out, value: "FILE",
                help: "Write the secret to FILE, readable by its owner only.", completion: .file),
            .option(
                "renew-within", \.renewWithin, value: "DURATION",
                help: "Keep the secret in FILE as long as it is valid for longer than this."),
            .option(
                "deploy", \.deploy, value: "PROGRAM",
                help: "Run PROGRAM with each new secret, until it has succeeded.",
                completion: .file),
            MetricsArgument.option(\.metrics),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var lifetime: DurationArgument?
    var expiresAt: TimestampArgument?
    var out: String?
    var renewWithin: DurationArgument?
    var deploy: String?
    var metrics: MetricsArgument?

    func run(in world: World) async throws {
        try world.metrics.begin(metrics, global, in: world)
        try checkCombination()
        try checkFiles(in: world)
        let session = try Session(global, lifetime: lifetime, in: world)
        try session.examineOutput(out)
        let now = world.clocks.now()
        let lifetime = try lifetime(in: session.settings, at: now)
        let client = try session.client().client
        let deployment = try deployment(session)
        if let kept = try kept(client, lifetime, session, at: now) {
            try global.output.checkPrinted(among: members(of: kept, .kept).map(\.name))
            session.noteClientSecret(expiringAt: kept.expiresAt)
            let isDeployed = try deployment?.runIfPending(kept, line(kept))
            return try report(kept, .kept, isDeployed: isDeployed, session)
        }
        let secret = try await session.mintSecret(of: client, lasting: lifetime)
        try global.output.checkPrinted(among: members(of: secret, .minted).map(\.name))
        if let out {
            try deployment?.markPending()
            try world.files.replace(line(secret), out, .clientSecret)
            session.noteClientSecret(expiringAt: secret.expiresAt)
            announce(secret, lasting: lifetime, in: world.named(out), session.console)
        }
        try deployment?.run(secret, line(secret))
        try report(secret, .minted, isDeployed: deployment.map { _ in true }, session)
    }

    private enum Origin {
        case minted
        /// The file already has a valid secret.
        case kept
    }

    private func deployment(_ session: Session) throws -> SecretDeployment? {
        guard let deploy, let out else { return nil }
        return try SecretDeployment(deploy, of: out, session)
    }

    private func checkCombination() throws(UsageError.Problem) {
        if lifetime != nil, expiresAt != nil {
            throw UsageError.Problem.misuse(
                "--lifetime and --expires-at exclude each other",
                hint: "omit one of them")
        }
        if renewWithin != nil, out == nil {
            throw UsageError.Problem.misuse(
                "--renew-within needs --out",
                hint: "add --out FILE")
        }
        if deploy != nil, out == nil {
            throw UsageError.Problem.misuse("--deploy needs --out", hint: "add --out FILE")
        }
        if let deploy, !deploy.utf8.contains(UInt8(ascii: "/")) {
            throw UsageError.Problem.misuse(
                "--deploy needs a path, and '\(printable(deploy))' is a name",
                hint: "give the whole path of the program, or ./\(printable(deploy))")
        }
        if out == "-" {
            throw UsageError.Problem.misuse(
                "--out needs a file", hint: "omit --out to print the secret")
        }
    }

    /// Refuses files that hold something else, before anything is minted.
    private func checkFiles(in world: World) throws(FileError) {
        guard let out else { return }
        try world.files.checkReplacement(out, .clientSecret)
        guard deploy != nil else { return }
        try world.files.checkReplacement(SecretDeployment.marker(of: out), .marker)
    }

    private func lifetime(in settings: Settings, at now: NumericDate) throws -> Duration {
        guard let expiresAt else { return try settings.secretLifetime() }
        guard expiresAt.date > now else {
            throw UsageError.Problem.misuse(
                "--expires-at is in the past", hint: "it is now \(now.rfc3339): give a later time"
            )
        }
        return expiresAt.date - now
    }

    /// The secret in the file if it is this client's, lasts longer than `--renew-within`, and Apple
    /// would accept it: Apple refuses an `iat` in the future.
    private func kept(
        _ client: Client, _ lifetime: Duration, _ session: Session, at now: NumericDate
    ) throws -> ClientSecret? {
        guard let path = out, let limit = renewWithin?.duration else { return nil }
        guard limit < lifetime else {
            throw UsageError.Problem.misuse(
                "--renew-within must be shorter than the lifetime, or every run would renew",
                hint: "use a longer --lifetime, such as 90d")
        }
        // A stream holds no earlier secret.
        guard session.world.files.status(path)?.isRegular == true else { return nil }
        let file = try session.world.files.readRegular(path)
        guard
            let secret = ClientSecret(
                minted: SecretText(firstLine(file.contents)), by: client.signingKey,
                for: client.clientID, of: client.teamID),
            secret.expiresAt - now > limit, secret.issuedAt <= now,
            secret.expiresAt - now <= ClientSecret.longestLifetime
        else { return nil }
        if file.status.isReadableByOthers {
            let path = session.world.named(path)
            session.console.warn("the secret in \(path) can be read by others; chmod 600 \(path)")
        }
        return secret
    }

    /// Prints a note about the file; warns of a short lifetime, because files are usually read much
    /// later.
    private func announce(
        _ secret: ClientSecret, lasting lifetime: Duration, in path: String, _ console: Console
    ) {
        let words = lifetime.words()
        console.note(
            "wrote \(path): a client_secret of \(secret.clientID) that is valid for \(words), "
                + "until \(secret.expiresAt.rfc3339)")
        guard lifetime < .seconds(86_400), renewWithin == nil else { return }
        console.warn(
            "the client_secret in \(path) expires in \(words); for a longer one give --lifetime, "
                + "such as --lifetime 90d --renew-within 30d in a daily job")
    }

    private func line(_ secret: ClientSecret) -> SecretBytes {
        var line = SecretBuffer(capacity: secret.text.bytes.count + 1)
        secret.text.bytes.withSpan { line.append(contentsOf: $0) }
        line.append(0x0A)
        return line.finished()
    }

    private func members(
        of secret: ClientSecret, _ origin: Origin, isDeployed: Bool? = nil
    ) -> [JSON.Member] {
        out == nil
            ? secret.members
            : secret.openMembers + [.init("renewed", .boolean(origin == .minted))]
                + (deploy.map { _ in [.init("deployed", .boolean(isDeployed ?? false))] } ?? [])
    }

    private func deed(_ origin: Origin, in world: World) -> Deed {
        guard let out = out.map(world.named) else {
            return Deed(
                "a client_secret was minted", hint: "fix standard output, then run it again")
        }
        return Deed(
            origin == .minted
                ? "the client_secret was written to \(out)" : "\(out) was left as it is",
            hint: "read the file with 'siwa inspect @\(out)'")
    }

    private func report(
        _ secret: ClientSecret, _ origin: Origin, isDeployed: Bool?, _ session: Session
    ) throws {
        guard out == nil || global.output.json || global.output.print != nil else { return }
        try session.report(
            Report(
                .object(members(of: secret, origin, isDeployed: isDeployed)),
                text: out == nil ? secret.text : nil, of: deed(origin, in: session.world)))
    }
}
