internal import SIWACrypto
internal import SignInWithApple

/// Apple's side of the protocol: everything it knows, and what it answers.
///
/// A value, so that a request is answered in one step or not at all.
struct Service {
    var configuration: EmulatorConfiguration
    var keys: EmulatorKeys
    /// The emulator's own time, which a control request can move.
    var now: @Sendable () -> NumericDate
    var switches: Switches
    var ledger = Ledger()
    var openPages = OpenPages()
    var revokedKeys: Set<KeyID> = []
    /// When the recipient accepted the clients; nil before.
    var acceptedAt: NumericDate?
    /// Made when the first user migrates.
    var transferees: Transferees?

    /// Answers one request to one of Apple's paths.
    mutating func answer(_ request: EmulatorRequest, _ form: FormReading) -> Answer {
        guard let route = Route(rawValue: request.path) else {
            return Answer(
                .edge(status: 404), failing: RequestCheck(failed: "path", "not one of Apple's"))
        }
        // What Apple answers to a wrong method is not recorded: this is its edge's usual page.
        guard request.method == route.method else {
            return Answer(
                .edge(status: 405),
                failing: RequestCheck(failed: "method", "must be \(route.method)"))
        }
        guard request.body.count <= EmulatorRequest.bodyLimit else { return .tooLarge }
        return switch route {
        case .authorize: .onPage { try authorize(form.get()) }
        case .consent: .onPage { try consent(form.get()) }
        case .token: Answer { try token(form.get()) }
        case .revoke: Answer { try revoke(form.get()) }
        case .migration: Answer { try migrate(form.get(), request.bearer) }
        case .keys: Answer(.json(keys.document()), because: "ok")
        case .discovery: Answer(.json(discovery(at: request.origin)), because: "ok")
        }
    }

    /// Passes only the client whose secret it is, and answers the team that signed it.
    @discardableResult
    func authenticate(
        _ credentials: ClientCredentials, for purpose: Purpose = .signIn
    ) throws -> EmulatedTeam {
        try ClientAuthentication(
            configuration: configuration, teams: teams(for: purpose), revokedKeys: revokedKeys,
            switches: switches, now: now(), trail: credentials.trail
        ).check(credentials)
    }

    /// Looks a code or a token up and authenticates the client, in the order of the profile.
    func authenticate<Found>(
        _ credentials: ClientCredentials, for purpose: Purpose = .signIn,
        lookingUp find: () throws -> Found
    ) throws -> (found: Found, team: EmulatedTeam) {
        if switches.order == .clientFirst {
            let team = try authenticate(credentials, for: purpose)
            return (try find(), team)
        }
        let found = try find()
        return (found, try authenticate(credentials, for: purpose))
    }
}

/// A form, or why there is none.
typealias FormReading = Result<ReceivedForm, Refusal>

extension Answer {
    /// Not recorded from Apple; 413 says to a person what 400 would not.
    fileprivate static let tooLarge = Answer(
        .json(["error": "invalid_request"], status: 413), error: "invalid_request",
        failing: RequestCheck(failed: "body", "longer than \(EmulatorRequest.bodyLimit) bytes"))
}
