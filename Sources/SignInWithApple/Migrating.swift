internal import SIWAJOSE
internal import SIWALifecycle
internal import Synchronization

/// A user after an app transfer, as Apple knows them in the new team.
public struct TransferredUser: Hashable, Sendable {
    /// The user's id in the new team: the `sub` of identity tokens from now on.
    public let userID: String
    /// The transfer identifier that was given.
    public let transferID: String
    /// The relay address in the new team; nil for a user without one.
    public let email: String?
    /// Whether ``email`` is a relay address; nil if absent.
    public let isPrivateEmail: Bool?

    /// Creates a user, for tests.
    public init(
        userID: String, transferID: String, email: String? = nil, isPrivateEmail: Bool? = nil
    ) {
        (self.userID, self.transferID) = (userID, transferID)
        (self.email, self.isPrivateEmail) = (email, isPrivateEmail)
    }
}

extension SignInWithAppleClient {
    /// Gets the transfer identifier of a user, before or up to sixty days after an app transfer: the
    /// old team's half (Apple: "Transferring your apps and users to another team").
    ///
    /// - Parameters:
    ///   - userID: the user's id in this client's team.
    ///   - teamID: the Team ID of the team that gets the app.
    ///   - timeout: the time for all requests together; nil uses that of the client.
    /// - Returns: the identifier, which the new team exchanges with
    ///   ``user(transferID:timeout:)``.
    /// - Throws: ``SignInWithAppleError``.
    public func transferID(
        of userID: String, to teamID: String, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> String {
        let question = MigrationRequest.export(
            try argument(userID, "the user id"), to: try argument(teamID, "the Team ID"))
        return try await migrate(question, timeout).transferID.rawValue
    }

    /// Exchanges a transfer identifier for the user's id in this client's team, up to sixty days
    /// after an app transfer (Apple: "Bringing new apps and users into your team").
    ///
    /// - Parameters:
    ///   - transferID: the identifier, from the old team or from
    ///     ``IdentityClaims/transferID``.
    ///   - timeout: the time for all requests together; nil uses that of the client.
    /// - Returns: the user.
    /// - Throws: ``SignInWithAppleError``.
    public func user(
        transferID: String, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> TransferredUser {
        let user = try await migrate(
            .admission(try argument(transferID, "the transfer identifier")), timeout)
        return TransferredUser(
            userID: user.userID.rawValue, transferID: transferID, email: user.email,
            isPrivateEmail: user.isPrivateEmail)
    }

    private func migrate(
        _ question: MigrationRequest, _ timeout: Duration?
    ) async throws(SignInWithAppleError) -> MigratedUser {
        let requests = requests(delivery(timeout))
        return try await answer { () async throws(TokenFailure) in
            let known = shared.bearers.token(of: team, at: shared.clocks.now())
            if let known {
                do throws(TokenFailure) {
                    return try await requests.migrate(question, bearer: known)
                } catch {
                    guard case .refused(let refusal) = error.cause, refusal.code == .invalidGrant
                    else { throw error }
                }
            }
            let bearer = try await requests.teamToken()
            shared.bearers.keep(bearer, of: team, at: shared.clocks.now())
            return try await requests.migrate(question, bearer: bearer.accessToken.text)
        }
    }

    private func argument<ID: Identifier>(
        _ text: String, _ name: String
    ) throws(SignInWithAppleError) -> ID {
        do throws(IdentifierError) {
            return try ID(validating: text)
        } catch {
            throw SignInWithAppleError(.invalidArgument, "\(name) \(error.fault)")
        }
    }
}

/// The access tokens of teams, with which users are migrated; each works for an hour.
final class TeamBearers: Sendable {
    private struct Bearer: Sendable {
        let token: SecretText
        let end: NumericDate
    }

    private let bearers = Mutex<[ObjectIdentifier: Bearer]>([:])

    func token(of team: TeamKey, at now: NumericDate) -> SecretText? {
        bearers.withLock { $0[ObjectIdentifier(team)] }.flatMap { $0.end > now ? $0.token : nil }
    }

    func keep(_ response: TokenResponse, of team: TeamKey, at now: NumericDate) {
        let life = max(Duration.seconds(response.expiresIn ?? 0) - .seconds(60), .zero)
        bearers.withLock {
            $0[ObjectIdentifier(team)] = Bearer(
                token: response.accessToken.text, end: now + life)
        }
    }
}
