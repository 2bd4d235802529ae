internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The common part of both halves of an app transfer.
struct Migration: Sendable {
    let half: MigrationHalf
    private let client: Client
    private let requests: Requests
    private let runner: BatchRunner

    /// - Parameter half: made of the client.
    init(
        _ global: GlobalOptions, _ batch: BatchOptions, in world: World,
        half: (Client) throws -> MigrationHalf
    ) throws {
        try world.metrics.begin(batch.metrics, global, in: world)
        let session = try Session(global, in: world)
        let loaded = try session.client()
        client = loaded.client
        requests = try Requests(session, client: .signing(loaded))
        self.half = try half(client)
        var runner = try BatchRunner(
            requests, batch, request: self.half.requestKind, mark: self.half.mark,
            BatchOrigin(
                clientID: client.clientID, baseURL: requests.network.baseURL,
                teamID: client.teamID, newTeam: self.half.newTeam))
        runner.layout = .migration(self.half)
        let hints = MigrationHints(self.half.requestKind, client)
        runner.allRefused = hints?.everyUserRefused ?? []
        self.runner = runner
    }

    /// Requests the ids of all users, or prints the first requests for a dry run.
    func run(_ options: MigrationOptions) async throws {
        announce(options.acceptedAt)
        let half = half
        @Sendable func read(
            _ line: SecretBytes, _ number: Int
        ) throws(InvalidLine) -> MigrationItem {
            try MigrationItem(line, line: number, half: half)
        }
        guard !options.isDryRun else {
            return try await dryRun(
                try await runner.firstItem(hint: "give one identifier per line", read))
        }
        let job = MigrationJob(requests.secrets, baseURL: requests.network.baseURL)
        try await runner.run(job, read: read, resuming: { $0.trust() }) { _, outcome in
            switch outcome {
            case .refused(let refusal): ItemReport(refused: refusal, half.requestKind)
            case .done(let user): ItemReport(.done, .done, user.members, user: user)
            }
        }
    }

    /// Prints the teams, because a wrong one would be noticed only weeks later.
    private func announce(_ acceptedAt: DateArgument?) {
        let console = runner.session.console
        switch half {
        case .export(let team):
            console.note(
                "users of \(client.clientID) move from team \(client.teamID) to team \(team)")
        case .admission:
            console.note("users of \(client.clientID) arrive at team \(client.teamID)")
        }
        guard let acceptedAt else { return }
        let window = MigrationWindow(
            acceptedAt: acceptedAt.date, now: runner.world.clocks.now())
        if window.isOver { console.warn(window.words) } else { console.note(window.words) }
    }

    private func dryRun(_ item: MigrationItem) async throws {
        let now = runner.world.clocks.now()
        let bearer = try await requests.tokens.draft(.clientCredentials, at: now)
        let form = try requests.secrets.form(of: item.request, at: now)
        let question = item.request.carrying(
            form, bearer: SecretText("(access_token)"), to: requests.network.baseURL)
        try requests.dryRun(
            drafts: [bearer, (question, form)])
    }
}

extension MigrationHalf {
    fileprivate var requestKind: RequestKind {
        switch self {
        case .export: .migrationExport
        case .admission: .migrationImport
        }
    }

    /// The team that gets the app, which an export names.
    fileprivate var newTeam: TeamID? {
        if case .export(let team) = self { team } else { nil }
    }

    /// The member with which its results begin: the requested identifier.
    fileprivate var mark: ResultMark {
        switch self {
        case .export: .userID
        case .admission: .transferID
        }
    }
}

extension MigratedUser {
    /// The address, if there is one, and Apple's id of the request.
    fileprivate var members: [JSON.Member] {
        (email.map { [.init("email", .string($0))] } ?? [])
            + (isPrivateEmail.map { [.init("is_private_email", .boolean($0))] } ?? [])
            + (requestID.map { [.init("apple_request_id", .string($0))] } ?? [])
    }
}

extension MigrationItem: NumberedItem {
    var fingerprint: String? { nil }

    /// The identifier in the request.
    var id: JSON? { .string(identifier) }

    var name: ItemName { ItemName(id: id, oldUserID: oldUserID?.rawValue) }
}
