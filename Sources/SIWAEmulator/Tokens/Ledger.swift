internal import SIWAJOSE
internal import SIWALifecycle

/// Every code and token that was issued. A text that is absent was never issued, or so long ago
/// that Apple would not know it either.
struct Ledger {
    /// One sign-in, waiting to be exchanged.
    struct Code {
        let clientID: ClientID
        let user: EmulatedUser
        let nonce: String?
        let redirectURI: String?
        let challenge: PKCEChallenge?
        let issuedAt: NumericDate
        var isUsed = false
    }

    /// The tokens that one code was exchanged for: a refresh token and the later access tokens. A
    /// team's own session, for user migration, has no user and no refresh token.
    struct Session {
        let clientID: ClientID
        /// The team whose secret opened it.
        let teamID: TeamID
        let user: EmulatedUser?
        let nonce: String?
        let signedInAt: NumericDate
        /// The refresh token; nil for a team's own session.
        var refreshToken: String?
        /// When its code was exchanged, or it was last refreshed.
        var lastUsedAt: NumericDate
        var isRevoked = false
    }

    /// Identifies a session; never reused.
    struct SessionID: Hashable {
        fileprivate let number: Int
    }

    private struct AccessToken {
        let session: SessionID
        let expiresAt: NumericDate
    }

    /// A user as one team knows them.
    struct Member: Hashable {
        let userID: UserID
        let teamID: TeamID

        init(_ userID: UserID, _ teamID: TeamID) { (self.userID, self.teamID) = (userID, teamID) }
    }

    var consents = Consents()
    /// The relay addresses that exist.
    var relays: [Member: String] = [:]
    /// The users whose relay address forwards no mail.
    var silentRelays: Set<UserID> = []
    private var codes: [String: Code] = [:]
    private var sessions: [Session] = []
    /// The number of active sessions.
    private(set) var aliveCount = 0
    private(set) var liveSessions: [Consents.Parties: Int] = [:]
    private var refreshTokens: [String: SessionID] = [:]
    private var accessTokens: [String: AccessToken] = [:]
    private var sweepThreshold = 10_000
}

// Codes.
extension Ledger {
    /// Records a sign-in.
    mutating func record(_ code: Code, as text: String) {
        sweep(at: code.issuedAt)
        codes[text] = code
    }

    func code(_ text: String) -> Code? { codes[exactly: text] }

    /// Removes the code, as if it had never been issued.
    mutating func forgetCode(_ text: String) { codes[text] = nil }

    /// Marks the code as used.
    mutating func spendCode(_ text: String) { codes[text]?.isUsed = true }
}

// For the console.
extension Ledger {
    /// The latest `limit` sessions, the newest first.
    func newestSessions(_ limit: Int) -> [Session] { Array(sessions.suffix(limit).reversed()) }

    /// The number of sessions.
    var sessionCount: Int { sessions.count }
}

// Sessions and their tokens.
extension Ledger {
    subscript(id: SessionID) -> Session { sessions[id.number] }

    mutating func open(_ session: Session, refreshToken: String? = nil) -> SessionID {
        let id = SessionID(number: sessions.count)
        var session = session
        session.refreshToken = refreshToken
        sessions.append(session)
        aliveCount += 1
        if let parties = session.parties { liveSessions[parties, default: 0] += 1 }
        if let refreshToken { refreshTokens[refreshToken] = id }
        return id
    }

    /// Notes that the refresh token was used.
    mutating func use(_ id: SessionID, at now: NumericDate) {
        sessions[id.number].lastUsedAt = now
    }

    /// Records an access token.
    mutating func record(
        accessToken text: String, of session: SessionID, at now: NumericDate,
        lifetime: Duration
    ) {
        sweep(at: now)
        accessTokens[text] = AccessToken(session: session, expiresAt: now + lifetime)
    }

    func session(refreshToken text: String) -> SessionID? { refreshTokens[exactly: text] }

    func session(accessToken text: String, at now: NumericDate) -> SessionID? {
        guard let token = accessTokens[exactly: text], token.expiresAt > now else { return nil }
        return token.session
    }

    /// Makes the token invalid.
    mutating func spendAccessToken(_ text: String) { accessTokens[text] = nil }

    /// Ends a session and with it every token of it.
    ///
    /// The user counts as new to the client afterwards, as with Apple.
    ///
    /// - Parameter clients: all clients of the team, for the scope of a group.
    mutating func revoke(
        _ id: SessionID, scope: Behaviors.RevokeScope, among clients: [EmulatedClient]
    ) {
        let revoked = sessions[id.number]
        endSession(id.number)
        guard let user = revoked.user else { return }
        consents.withdraw(user.userID, revoked.clientID)
        switch scope {
        case .session: break
        case .user: endSessions(of: user.userID, with: [revoked.clientID])
        case .group: end(user.userID, with: clients)
        }
    }

    /// Ends a user's sessions, unused codes and consents with some clients.
    mutating func end(_ userID: UserID, with clients: [EmulatedClient]) {
        let clientIDs = Set(clients.map(\.clientID))
        endSessions(of: userID, with: clientIDs)
        codes = codes.filter {
            $0.value.user.userID != userID || !clientIDs.contains($0.value.clientID)
        }
        for clientID in clientIDs { consents.withdraw(userID, clientID) }
    }

    private mutating func endSessions(of userID: UserID, with clientIDs: Set<ClientID>) {
        for index in sessions.indices
        where sessions[index].user?.userID == userID
            && clientIDs.contains(sessions[index].clientID)
        {
            endSession(index)
        }
    }

    private mutating func endSession(_ index: Int) {
        guard !sessions[index].isRevoked else { return }
        sessions[index].isRevoked = true
        aliveCount -= 1
        if let parties = sessions[index].parties { liveSessions[parties]? -= 1 }
    }

    /// Removes what expired a day ago, so that an emulator can run for weeks.
    private mutating func sweep(at now: NumericDate) {
        guard codes.count + accessTokens.count > sweepThreshold else { return }
        let yesterday = now - .seconds(86_400)
        codes = codes.filter { $0.value.issuedAt > yesterday }
        accessTokens = accessTokens.filter { $0.value.expiresAt > yesterday }
        sweepThreshold = max(10_000, 2 * (codes.count + accessTokens.count))
    }
}

extension Dictionary where Key == String {
    /// The value for exactly this text: for Swift's ==, a Kelvin sign equals a K.
    fileprivate subscript(exactly key: String) -> Value? {
        key.utf8.allSatisfy { $0 < 0x80 } ? self[key] : nil
    }
}

extension Ledger.Session {
    /// The user and the client of the session; nil for a team's own.
    fileprivate var parties: Consents.Parties? {
        user.map { Consents.Parties(userID: $0.userID, clientID: clientID) }
    }
}
