internal import SIWACrypto
package import SIWAJOSE

/// Asks Apple about the user of each item, for one half of a migration.
///
/// Apple uses the same error code for a user who left and for a run that cannot work. The results
/// of the other users distinguish these cases:
///
/// - Until one user is migrated, refusals are held, and the run stops after ``mostRefusedAtFirst``
///   of them. Afterwards, every `invalid_request` concerns its user.
/// - `invalid_grant` concerns the bearer token: the item is sent again with a new one. An item that
///   was refused with three tokens is held; four refused tokens in a row stop the run.
package struct MigrationJob: BatchJob {
    private let secrets: ClientSecretCache
    private var bearers = BearerTokenRotation()
    private let baseURL: BaseURL
    private var hasMigrated: Bool
    private var refusedAtFirst = 0

    /// The number of users that may be refused before the first one is migrated.
    package static let mostRefusedAtFirst = 100
    private static let mostBearers = 3

    /// Sends requests as `client` to the endpoints at `baseURL`.
    package init(_ client: Client, baseURL: BaseURL = .apple) {
        self.init(ClientSecretCache(client), baseURL: baseURL)
    }

    /// Sends requests with these secrets.
    package init(_ secrets: ClientSecretCache, baseURL: BaseURL) {
        self.secrets = secrets
        self.baseURL = baseURL
        hasMigrated = false
    }

    /// Notes that an earlier run of the same input migrated users: refusals then concern single
    /// users.
    package mutating func trust() { hasMigrated = true }

    /// The request for a bearer token; nil if the current one is still valid.
    package mutating func preparation(at now: NumericDate) throws(ClientSecretError) -> HTTPRequest?
    {
        guard bearers.needsRenewal(at: now) else { return nil }
        let request = TokenRequest.clientCredentials
        return request.carrying(try secrets.form(of: request, at: now), to: baseURL)
    }

    /// Takes the bearer token, without which no user can be migrated.
    package mutating func takePreparation(_ response: HTTPResponse, at now: NumericDate) -> Bool {
        TokenResponse(response).map { bearers.take($0, at: now) } ?? false
    }

    /// The question about one user.
    package mutating func request(
        for item: inout MigrationItem, at now: NumericDate
    ) throws(ClientSecretError) -> HTTPRequest {
        let form = try secrets.form(of: item.request, at: now)
        item.bearer = bearers.use()
        return item.request.carrying(form, bearer: item.bearer?.token, to: baseURL)
    }

    /// Reads the user.
    package func read(_ response: HTTPResponse, for item: MigrationItem) -> MigratedUser? {
        MigratedUser(response, to: item.request)
    }

    /// What the answer means for the user, or for the bearer token.
    package mutating func conclude(
        _ answer: ItemOutcome<MigratedUser>, for item: inout MigrationItem, at now: NumericDate
    ) -> BatchVerdict<ItemOutcome<MigratedUser>> {
        switch answer {
        case .refused(let refusal) where refusal.code == .invalidGrant:
            return askAgain(item: &item, refusal)
        case .refused(let refusal):
            bearers.accept(item.bearer)
            return verdict(about: refusal)
        case .done:
            bearers.accept(item.bearer)
            hasMigrated = true
            return .finished(answer)
        }
    }

    private mutating func askAgain(
        item: inout MigrationItem, _ error: AppleError
    ) -> BatchVerdict<ItemOutcome<MigratedUser>> {
        guard bearers.refuse(item.bearer) else { return .stop(error) }
        item.bearersRefused += 1
        return item.bearersRefused < Self.mostBearers ? .next : .held(.refused(error))
    }

    private mutating func verdict(
        about error: AppleError
    ) -> BatchVerdict<ItemOutcome<MigratedUser>> {
        guard !hasMigrated else { return .finished(.refused(error)) }
        refusedAtFirst += 1
        return refusedAtFirst < Self.mostRefusedAtFirst
            ? .held(.refused(error)) : .stop(error)
    }
}
