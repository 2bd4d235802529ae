internal import Dispatch
public import FoundationEssentials
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords
public import SignInWithApple

/// Stores refresh tokens until an account is deleted, encrypted in an SQLite file or in PostgreSQL.
///
/// The commands of `siwa vault` and this library may use the same vault at the same time. Calls do
/// not block: the database has its own thread.
///
/// ```swift
/// let vault = try await TokenVault(url: "sqlite:vault.db", keys: keys)
/// try await vault.store(signIn)
/// try await vault.revoke(userID: signIn.userID, with: apple)
/// ```
public struct TokenVault: Sendable {
    private let vault: Vault
    private let queue: DispatchQueue
    private let now: @Sendable () -> NumericDate

    /// Opens a vault.
    ///
    /// - Parameters:
    ///   - url: `sqlite:PATH` or `postgresql://…`, as libpq understands it.
    ///   - keys: the text of the vault's key file: for each key a line with its number, 64
    ///     hexadecimal digits, and `retired` if it was replaced.
    ///   - application: the name of this program in the vault's history.
    ///   - timeout: the time limit of a statement, after which a call fails with the kind `busy` or
    ///     `unreachable`.
    ///   - now: the wall clock; by default the system's.
    /// - Throws: ``TokenVaultError``, such as `notInitialized` without a vault, or `key` if the
    ///   keys are not the vault's.
    public init(
        url: String, keys: String, application: String = "SignInWithApple",
        timeout: Duration = .seconds(10), now: @escaping @Sendable () -> Date = { Date() }
    ) async throws(TokenVaultError) {
        let queue = DispatchQueue(label: "siwa.vault", qos: .userInitiated)
        (self.queue, self.now) = (queue, { NumericDate(now()) })
        vault = try await queue.run { () throws(StoreError) in
            try Vault(
                openVaultStore(url, timeout: .eachStatement(timeout)),
                VaultKeyRing(SecretBytes(keys.utf8)),
                by: VaultActor(command: application, host: hostName()))
        }
    }

    /// Creates a vault, which must not exist yet.
    ///
    /// - Parameters:
    ///   - url: the place, see ``init(url:keys:application:timeout:now:)``.
    ///   - keys: its keys, see ``newKeys()``.
    ///   - timeout: the time limit of a statement.
    /// - Throws: ``TokenVaultError``, of kind `alreadyInitialized` if it exists.
    public static func create(
        url: String, keys: String, timeout: Duration = .seconds(10)
    ) async throws(TokenVaultError) {
        try await DispatchQueue(label: "siwa.vault").run { () throws(StoreError) in
            try Vault.create(
                openVaultStore(url, timeout: .eachStatement(timeout)),
                VaultKeyRing(SecretBytes(keys.utf8)))
        }
    }

    /// Generates the key of a new vault. Without it, the tokens cannot be read: keep it, separately
    /// from the database.
    ///
    /// - Returns: the text of a key file.
    /// - Throws: ``TokenVaultError`` if the system provides no entropy.
    public static func newKeys() throws(TokenVaultError) -> String {
        do throws(StoreError) {
            return String(decoding: try VaultKeyRing.newLine(number: 1).revealed(), as: UTF8.self)
        } catch {
            throw TokenVaultError(error)
        }
    }

    func run<Value: Sendable>(
        _ body: @escaping @Sendable (Vault, NumericDate) throws(StoreError) -> Value
    ) async throws(TokenVaultError) -> Value {
        try await queue.run { [vault, now] () throws(StoreError) in try body(vault, now()) }
    }
}

// Storing and reading.
extension TokenVault {
    /// Stores the refresh token of a sign-in. A token that is already stored becomes active.
    ///
    /// - Returns: the stored token.
    /// - Throws: ``TokenVaultError``, of kind `invalidArgument` if the sign-in has none.
    @discardableResult
    public func store(_ signIn: SignIn) async throws(TokenVaultError) -> StoredToken {
        guard let token = signIn.refreshToken else {
            throw TokenVaultError(.invalidArgument, "the sign-in has no refresh token")
        }
        let signedInAt = NumericDate(signIn.claims.issuedAt)
        return try await store(
            token, of: vaultUser(signIn.userID, signIn.claims.clientID),
            signedInAt: signedInAt.isWritable ? signedInAt : nil)
    }

    /// Stores a refresh token that Apple has just issued. A token that is already stored becomes
    /// active.
    ///
    /// - Parameters:
    ///   - refreshToken: the token.
    ///   - userID: the `sub` of the identity token that was issued with it.
    ///   - clientID: the client that it was issued to.
    /// - Returns: the stored token.
    /// - Throws: ``TokenVaultError``, of kind `invalidArgument` for an invalid id or token.
    @discardableResult
    public func store(
        _ refreshToken: String, userID: String, clientID: String
    ) async throws(TokenVaultError) -> StoredToken {
        try await store(refreshToken, of: vaultUser(userID, clientID), signedInAt: nil)
    }

    private func store(
        _ refreshToken: String, of user: VaultUser, signedInAt: NumericDate?
    ) async throws(TokenVaultError) -> StoredToken {
        let token = RefreshToken(SecretText(refreshToken))
        do throws(OpaqueTokenError) {
            try validateOpaqueToken(token.text)
        } catch {
            throw TokenVaultError(.invalidArgument, "the refresh token \(error)")
        }
        return try await run { vault, now throws(StoreError) in
            StoredToken(try vault.store(token, for: user, signedInAt: signedInAt, at: now))
        }
    }

    /// The tokens of a user, in the order in which they were stored.
    ///
    /// - Parameters:
    ///   - userID: the user.
    ///   - clientID: the client that they were issued to.
    /// - Returns: the tokens, revoked ones too; empty if the vault has none of the user.
    /// - Throws: ``TokenVaultError``, of kind `recordDamaged` if one cannot be read.
    public func tokens(
        userID: String, clientID: String
    ) async throws(TokenVaultError) -> [StoredToken] {
        try await records(of: vaultUser(userID, clientID)).map(StoredToken.init)
    }

    /// Decrypts a stored token.
    ///
    /// - Returns: the refresh token.
    /// - Throws: ``TokenVaultError``, of kind `sealBroken` if the record was changed.
    public func refreshToken(of token: StoredToken) async throws(TokenVaultError) -> String {
        try await run { vault, _ throws(StoreError) in
            try vault.token(of: token.record).text.revealed()
        }
    }

    /// Removes the tokens of a user. Apple is not told: revoke them before.
    ///
    /// - Parameters:
    ///   - userID: the user.
    ///   - clientID: the client that they were issued to.
    ///   - isErasing: deletes the user's history as well.
    /// - Returns: the number of removed tokens.
    /// - Throws: ``TokenVaultError``.
    @discardableResult
    public func remove(
        userID: String, clientID: String, isErasing: Bool = false
    ) async throws(TokenVaultError) -> Int {
        let user = try vaultUser(userID, clientID)
        return try await run { vault, now throws(StoreError) in
            let page = try vault.keyless.remove(user, isErasing: isErasing, at: now)
            return page.records.count + page.damaged.count
        }
    }

    /// The records of a user, the oldest first.
    func records(of user: VaultUser) async throws(TokenVaultError) -> [VaultRecord] {
        try await run { vault, _ throws(StoreError) in
            let page = try vault.store.records(of: [user])
            if let damaged = page.damaged.first { throw damaged.error }
            return page.records.oldestFirst
        }
    }

    /// The records of a user for all clients of the vault, and for `clientIDs`.
    func allRecords(
        ofUser userID: String, _ clientIDs: Set<String>
    ) async throws(TokenVaultError) -> VaultPage {
        let given = try clientIDs.map { id throws(TokenVaultError) in try vaultUser(userID, id) }
        return try await run { vault, _ throws(StoreError) in
            let known = try vault.store.clients().compactMap {
                try? VaultUser($0, validating: userID)
            }
            return try vault.store.records(of: Array(Set(known + given)))
        }
    }

    func vaultUser(_ userID: String, _ clientID: String) throws(TokenVaultError) -> VaultUser {
        do throws(IdentifierError) {
            return try VaultUser(ClientID(validating: clientID), validating: userID)
        } catch {
            throw TokenVaultError(.invalidArgument, "'\(error.text)' \(error.fault)")
        }
    }
}

extension DispatchQueue {
    /// Runs a blocking operation.
    fileprivate func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(TokenVaultError) -> Value {
        let result = await withCheckedContinuation { continuation in
            async { continuation.resume(returning: Result(catching: body)) }
        }
        do throws(StoreError) {
            return try result.get()
        } catch {
            throw TokenVaultError(error)
        }
    }
}
