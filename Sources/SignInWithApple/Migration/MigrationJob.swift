internal import SIWACrypto

/// Asks Apple about a user an item, for one half of a migration.
///
/// Apple says no in the same two bare words to a user who left and to a run that cannot work.
/// They are told apart by what happens to the others:
///
/// - While no user got through, refusals are held, and the run stops after
///   ``mostRefusedAtFirst`` of them. Once one did, every `invalid_request` is about its user.
/// - `invalid_grant` is about the bearer token: the item asks again with a new one. An item that
///   outlives three is held itself, and four in vain stop the run.
public struct MigrationJob: BatchJob {
    private var credentials: Credentials
    private var bearers = Bearers()
    private let baseURL: BaseURL
    private var hasMigrated: Bool
    private var refusedAtFirst = 0

    /// How many users may be refused before the first one gets through.
    public static let mostRefusedAtFirst = 100
    private static let mostBearers = 3

    /// Speaks for `client` to the endpoints at `baseURL`.
    public init(_ client: Client, baseURL: BaseURL = .apple) {
        credentials = Credentials(client)
        self.baseURL = baseURL
        hasMigrated = false
    }

    /// An earlier run of the same input got users through: refusals are no sign that nothing
    /// can work.
    public mutating func trust() { hasMigrated = true }

    /// The request for a bearer token, when there is none that will last.
    public mutating func preparation(at now: NumericDate) throws(ClientSecretError) -> HTTPRequest?
    {
        guard bearers.needsRenewal(at: now) else { return nil }
        let secret = try credentials.secret(for: nil, at: now)
        return TokenRequest.clientCredentials.filled(
            for: credentials.clientID(nil), with: secret, at: baseURL)
    }

    /// Takes the bearer token. Whoever gets none needs not ask about anybody.
    public mutating func takePreparation(
        _ response: HTTPResponse, at now: NumericDate
    ) -> BatchVerdict<ItemOutcome<MigratedUser>>? {
        let answer = response.judged(
            showing: response.redacting(credentials.secrets(for: nil)),
            read: { TokenResponse($0.body) })
        return switch answer {
        case .success(let answer):
            bearers.take(answer, at: now) ? nil : .trouble(.unusable(response))
        case .failure(.refused(let error)): .stop(.refused(error))
        case .failure(let cause): .trouble(cause)
        }
    }

    /// The question about one user.
    public mutating func request(
        for item: inout MigrationItem, at now: NumericDate
    ) throws(ClientSecretError) -> HTTPRequest {
        let secret = try credentials.secret(for: nil, at: now)
        item.bearer = bearers.use()
        let form = item.request.form(
            clientID: credentials.clientID(nil), clientSecret: secret.text)
        return item.request.carrying(
            form, bearer: item.bearer?.token.revealed(), to: baseURL)
    }

    /// What Apple said of the user, or of the bearer token.
    public mutating func judge(
        _ response: HTTPResponse, for item: inout MigrationItem, at now: NumericDate
    ) -> BatchVerdict<ItemOutcome<MigratedUser>> {
        let request = item.request
        let verdict = response.verdict(
            hiding: (item.bearer.map { [$0.token] } ?? []) + credentials.secrets(for: nil)
        ) {
            MigratedUser($0.body, to: request)
        }
        guard case .finished(let outcome) = verdict else { return verdict }
        switch outcome {
        case .refused(let error) where error.code == .invalidGrant:
            return askAgain(item: &item, error)
        case .refused(let error):
            bearers.accept(item.bearer)
            return weigh(error)
        case .done:
            bearers.accept(item.bearer)
            hasMigrated = true
            return verdict
        }
    }

    private mutating func askAgain(
        item: inout MigrationItem, _ error: AppleError
    ) -> BatchVerdict<ItemOutcome<MigratedUser>> {
        guard bearers.refuse(item.bearer) else { return .stop(.refused(error)) }
        item.bearersRefused += 1
        return item.bearersRefused < Self.mostBearers ? .next : .held(.refused(error))
    }

    private mutating func weigh(
        _ error: AppleError
    ) -> BatchVerdict<ItemOutcome<MigratedUser>> {
        guard !hasMigrated else { return .finished(.refused(error)) }
        refusedAtFirst += 1
        return refusedAtFirst < Self.mostRefusedAtFirst
            ? .held(.refused(error)) : .stop(.refused(error))
    }
}
