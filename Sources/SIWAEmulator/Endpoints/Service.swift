internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// Apple's side of the protocol: its state and its answers.
///
/// A value, so that a request takes effect as a whole or not at all.
struct Service {
    let configuration: EmulatorConfiguration
    var keys: EmulatorKeys
    /// The emulator's clock, which a control request can move.
    var now: @Sendable () -> NumericDate
    /// The clock that no control request moves.
    let realNow: @Sendable () -> NumericDate
    var behaviors: Behaviors
    var users: UserDirectory
    var ledger = Ledger()
    var openPages = OpenPages()
    /// How the answer to the exchange of a code differs from a good one, by code.
    var preparedAnswers: [String: PreparedAnswer] = [:]
    var random: ServiceRandomness
    var baits = Baits()
    /// The checks of the current request.
    var examination = Examination()
    var revokedKeys: Set<KeyID> = []
    /// When the recipient accepted the clients; nil before.
    var acceptedAt: NumericDate?
    /// Created when the first user migrates.
    var transferees: Transferees?

    init(
        configuration: EmulatorConfiguration, keys: EmulatorKeys,
        random source: SeededSource, clock: @escaping @Sendable () -> NumericDate
    ) {
        self.configuration = configuration
        self.keys = keys
        random = ServiceRandomness(source)
        (now, realNow) = (clock, clock)
        behaviors = configuration.behaviors
        users = UserDirectory(configuration.users)
    }

    /// Answers one request to one of Apple's paths.
    mutating func answer(_ request: EmulatorRequest, _ form: FormReading) -> Answer {
        examination = Examination()
        if let bait = baits.page(at: request.path) { return Answer(bait, because: "a bait") }
        guard let route = EmulatorRoute(rawValue: request.path) else {
            return Answer(.edge(status: 404), because: "no such path")
        }
        if let refusal = refusal(of: request, to: route) { return refusal }
        let answer = answer(request, form, route)
        if let refusal = answer.refusal { examination.failed(refusal) }
        return answer
    }

    /// The refusal of a request for reasons other than its parameters.
    private func refusal(of request: EmulatorRequest, to route: EmulatorRoute) -> Answer? {
        let isHead =
            request.method == "HEAD" && route.isPublic && behaviors.headRequests == .accepted
        guard request.method == route.method || isHead else {
            return wrongMethod(must: route.method)
        }
        guard request.fields["user-agent"] != nil || behaviors.missingUserAgent == .accepted else {
            return Answer(.bare(status: 403), because: "User-Agent: missing")
        }
        return request.body.count > EmulatorRequest.bodyLimit ? .tooLarge : nil
    }

    /// Apple's answer to a wrong method is not recorded: this is a 405 with its edge's usual page.
    private func wrongMethod(must method: String) -> Answer {
        let refusal = Refusal(.invalidRequest, in: "method", because: "must be \(method)")
        return behaviors.wrongMethod == .page
            ? Answer(.edge(status: 405), because: refusal.verdict) : Answer(refusal)
    }

    private mutating func answer(
        _ request: EmulatorRequest, _ form: FormReading, _ route: EmulatorRoute
    ) -> Answer {
        switch route {
        case .authorize: .onPage(request, behaviors.authorizeRefusal) { try authorize(form.get()) }
        case .consent: .onPage(request, behaviors.authorizeRefusal) { try consent(form.get()) }
        case .token: Answer { try token(form.get()) }
        case .revoke: Answer { try revoke(form.get()) }
        case .migration: Answer { try migrate(form.get(), request.bearer) }
        case .keys: Answer(keysPage(), because: "ok")
        case .discovery: Answer(.json(discovery(at: request.origin)), because: "ok")
        }
    }

    /// The key set. Whether Apple says how long it may be cached is not recorded: by default, this
    /// says nothing.
    private mutating func keysPage() -> Page {
        var page = Page.json(keys.document(shuffledBy: &random.keyOrder))
        guard !behaviors.keysNoStore else { return page }
        page.fields.removeAll { ["Cache-Control", "Pragma"].contains($0.name) }
        let age = behaviors.keysMaxAge.components.seconds
        if age > 0 { page.fields.append(HTTPField("Cache-Control", "max-age=\(age)")) }
        return page
    }

    /// - Throws: ``Refusal`` if a parameter occurs twice.
    func refuseRepetition(in form: ReceivedForm) throws(Refusal) {
        guard let name = form.repeated else { return }
        guard behaviors.repeatedParameter == .accepted else {
            throw Refusal(
                .invalidRequest, in: name, because: "given twice",
                advising: "Send each parameter once.")
        }
        examination.noted(name, "given twice: the first one counts")
    }

    func credentials(_ form: ReceivedForm) throws(Refusal) -> ClientCredentials {
        try ClientCredentials(form, missingSecret: behaviors.missingSecret)
    }

    /// Authenticates the client, and returns the team that signed its secret.
    @discardableResult
    func authenticate(
        _ credentials: ClientCredentials, for purpose: Purpose = .signIn
    ) throws -> EmulatedTeam {
        try ClientAuthentication(
            configuration: configuration, teams: teams(for: purpose), revokedKeys: revokedKeys,
            behaviors: behaviors, now: timeOfSecrets,
            examination: examination
        ).check(credentials)
    }

    /// The time by which client secrets are checked.
    var timeOfSecrets: NumericDate { behaviors.secretClock == .moved ? now() : realNow() }

    /// Looks a code or a token up, authenticates the client, and checks whether the two belong
    /// together, in the order of the profile.
    func authenticate<Found>(
        _ credentials: ClientCredentials, for purpose: Purpose = .signIn, presenting text: String,
        lookingUp find: () throws -> Found, checking check: (Found) throws -> Void
    ) throws -> (found: Found, team: EmulatedTeam) {
        let isClientFirst =
            switch behaviors.order {
            case .clientFirst: true
            case .malformedFirst: TokenText.kind(of: text) != nil
            case .credentialFirst, .grantFirst: false
            }
        if isClientFirst {
            let team = try authenticate(credentials, for: purpose)
            let found = try find()
            try check(found)
            return (found, team)
        }
        let found = try find()
        if behaviors.order == .grantFirst { try check(found) }
        let team = try authenticate(credentials, for: purpose)
        if behaviors.order != .grantFirst { try check(found) }
        return (found, team)
    }
}

/// A form, or why it cannot be read.
typealias FormReading = Result<ReceivedForm, Refusal>

extension Answer {
    /// Apple's answer is not recorded; 413 is clearer to a developer than 400.
    fileprivate static let tooLarge = Answer(
        .json(["error": "invalid_request"], status: 413), error: "invalid_request",
        because: "body: longer than \(EmulatorRequest.bodyLimit) bytes")
}
