internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// The common part of commands that send requests to Apple: a client, its network, and its errors.
struct Requests: Sendable {
    let session: Session
    let client: RequestClient
    let network: AppleConnection
    /// The client_secrets of all requests.
    let secrets: ClientSecretCache
    let tokens: TokenClient
    let redirectURI: String?
    let codeVerifier: CodeVerifier?

    /// - Parameters:
    ///   - client: nil reads the client of the settings.
    ///   - codeVerifier: the verifier of a PKCE challenge.
    init(
        _ session: Session, client: RequestClient? = nil, codeVerifier: CodeVerifier? = nil
    ) throws {
        let settings = session.settings
        self.session = session
        self.client = try client ?? session.requestClient()
        redirectURI = try settings.redirectURI()
        self.codeVerifier = codeVerifier
        network = try AppleConnection(session)
        secrets = ClientSecretCache(
            self.client.secrets, timekeeper: session.world.clocks.timekeeper)
        tokens = TokenClient(secrets, baseURL: network.baseURL, delivery: network.delivery)
    }

    /// An exchange of `code` with the redirect URI of the settings.
    func exchange(of code: AuthorizationCode) -> TokenRequest {
        .exchange(code, redirectURI: redirectURI, codeVerifier: codeVerifier)
    }

    /// Runs a request; adds the circumstances to a failure.
    ///
    /// - Parameter work: the work that a signal interrupts.
    func perform<Answer>(
        as work: EndingPlan.Work = .change,
        _ request: (TokenClient) async throws(TokenFailure) -> Answer
    ) async throws(RequestError) -> Answer {
        session.world.ending.begin(work, endingWithin: network.deadline.remaining)
        do {
            return try await request(tokens)
        } catch {
            throw RequestError(failure: error, context: context(after: error))
        }
    }

    /// Waits for a client_secret, so that a signer that does not sign is found before anything is
    /// begun.
    func prepare(_ kind: RequestKind) async throws(RequestError) {
        do {
            try await tokens.prepare(kind)
        } catch {
            throw RequestError(failure: error, context: nil)
        }
    }

    /// The circumstances of a failure, for hints.
    func context(after failure: TokenFailure) -> FailureContext {
        FailureContext(
            after: failure, client, session, server: network.baseURL,
            hasRedirectURI: redirectURI != nil, hasCodeVerifier: codeVerifier != nil)
    }

    /// Fails if standard output is closed or has no room, before a code is spent on a result that
    /// cannot be printed.
    func checkOutput() throws(UndeliveredResult) {
        do {
            try session.world.output(SecretBytes([]))
            try session.world.reserveOutput(Self.largestUsualResult)
        } catch {
            throw UndeliveredResult(
                error,
                after: Deed(
                    "nothing was sent",
                    hint:
                        "the code has not been used: fix standard output, then run the command again"
                ))
        }
    }

    /// Prints the result of a call that spent a code. If the member of `--print` is absent, prints
    /// the complete result, because the command cannot be repeated.
    ///
    /// - Parameters:
    ///   - isWhole: prints the complete result, ignoring `--print`, as after a signal: what is not
    ///     printed is lost.
    ///   - code: the state of the code.
    func reportOnce(
        _ report: Report, isWhole: Bool = false, code: SpentCode = .exchanged
    ) throws {
        session.world.ending.begin(.printing, code)
        var whole = session.options
        whole.print = nil
        let isWhole = isWhole || session.world.ending.signal != nil
        do {
            try session.world.report(report, isWhole ? whole : session.options)
            // The signal arrived while one member was printed.
            if !isWhole, session.options.print != nil, session.world.ending.signal != nil {
                try session.world.report(report, whole)
            }
        } catch var error as AbsentMember {
            try session.world.report(report, whole)
            error.isAllPrinted = true
            throw error
        }
    }

    /// Several times what Apple's tokens take, in bytes.
    private static let largestUsualResult = 16 << 10

    /// Prints the requests for a dry run, with fingerprints in place of secrets. Sends nothing.
    ///
    /// - Parameter unknown: shown in `requests` in place of a token that only an answer contains.
    func dryRun(_ requests: [TokenRequest], unknown: SecretText? = nil) async throws {
        var drafts: [(request: HTTPRequest, form: Form)] = []
        for request in requests {
            drafts.append(try await tokens.draft(request, at: session.world.clocks.now()))
        }
        try dryRun(drafts: drafts, unknown: unknown)
    }

    /// Prints the requests for a dry run, each with its form.
    func dryRun(
        drafts: [(request: HTTPRequest, form: Form)], unknown: SecretText? = nil
    ) throws {
        let list = drafts.map { draft -> JSON in
            [
                "method": .string(draft.request.method.rawValue), "url": .string(draft.request.url),
                "headers": .object(draft.request.fields.map { .init($0.name, .string($0.value)) }),
                "parameters": .object(draft.form.parameters.map { Self.masked($0, unknown) }),
            ]
        }
        try session.report(Report(["dry_run": true, "requests": .array(list)]))
    }

    private static func masked(
        _ parameter: Form.Parameter, _ unknown: SecretText?
    ) -> JSON.Member {
        switch parameter.value {
        case .plain(let text): .init(parameter.name, .string(text))
        case .secret(let secret) where secret.bytes === unknown?.bytes:
            .init(parameter.name, .string("(\(secret.revealed()))"))
        case .secret(let secret): .init(parameter.name, .string("(\(secret.description))"))
        }
    }
}
