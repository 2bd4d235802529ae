internal import Dispatch
public import FoundationEssentials
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords
public import SignInWithApple
internal import Synchronization

/// Stores refresh tokens until an account is deleted, encrypted in an SQLite file or in PostgreSQL.
///
/// The commands of `siwa vault` and this library may use the same vault at the same time. Calls do
/// not block: the database has its own thread.
///
/// ```swift
/// let vault = try await TokenVault(url: "sqlite:vault.db", keys: keys)
/// let signIn = try await apple.exchange(code, storingIn: vault)
/// try await vault.revoke(userID: signIn.userID, with: apple)
/// ```
public struct TokenVault: Sendable {
    private let opened: OpenedVault
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
        opened = try await queue.run { () throws(StoreError) in
            OpenedVault(
                try Vault(
                    openVaultStore(url, timeout: .eachStatement(timeout)),
                    VaultKeyRing(SecretBytes(keys.utf8)),
                    by: VaultActor(command: application, host: hostName())))
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

    func run<Value: Sendable>(
        _ body: @escaping @Sendable (Vault, NumericDate) throws(StoreError) -> Value
    ) async throws(TokenVaultError) -> Value {
        try await queue.run { [opened, now] () throws(StoreError) in
            try opened.run { vault throws(StoreError) in try body(vault, now()) }
        }
    }

    /// Makes the newest of the vault's keys the one that encrypts.
    ///
    /// - Returns: its number.
    func adoptNewestKey() async throws(TokenVaultError) -> Int {
        try await queue.run { [opened] () throws(StoreError) in try opened.adoptNewestKey() }
    }
}

/// The vault, which encrypts with another key after a change of keys. Used by one thread at a time.
private final class OpenedVault: Sendable {
    private let vault: Mutex<Vault>

    init(_ vault: Vault) { self.vault = Mutex(vault) }

    /// If another process has added a newer key, which is among the keys that were given, repeats
    /// the operation with it.
    func run<Value>(_ body: (Vault) throws(StoreError) -> Value) throws(StoreError) -> Value {
        let vault = vault.withLock { $0 }
        do throws(StoreError) {
            return try body(vault)
        } catch {
            guard error.kind == .keySuperseded,
                let renewed = try? Vault(vault.store, vault.keys, by: vault.actor)
            else { throw error }
            self.vault.withLock { $0 = renewed }
            return try body(renewed)
        }
    }

    func adoptNewestKey() throws(StoreError) -> Int {
        let renewed = try run { vault throws(StoreError) in try vault.withNewestKey() }
        vault.withLock { $0 = renewed }
        return renewed.currentKey
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
    ///   - clientID: the client that they were issued to; nil for all clients of the vault.
    /// - Returns: the tokens, revoked ones too; empty if the vault has none of the user.
    /// - Throws: ``TokenVaultError``, of kind `recordDamaged` if one cannot be read.
    public func tokens(
        userID: String, clientID: String? = nil
    ) async throws(TokenVaultError) -> [StoredToken] {
        let page = try await allRecords(ofUser: userID, ofClient: clientID)
        if let damaged = page.damaged.first { throw TokenVaultError(damaged.error) }
        return page.records.oldestFirst.map(StoredToken.init)
    }

    /// Reads and decrypts a stored token.
    ///
    /// - Returns: the refresh token.
    /// - Throws: ``TokenVaultError``, of kind `sealBroken` if the record was changed, or
    ///   `invalidArgument` if the vault does not have it.
    public func refreshToken(of token: StoredToken) async throws(TokenVaultError) -> String {
        let user = try vaultUser(token.userID, token.clientID)
        let text = try await run { vault, _ throws(StoreError) in
            let record = try vault.store.records(of: [user]).records
                .first { $0.id.fingerprint.rawValue == token.fingerprint }
            return try record.map { record throws(StoreError) in
                try vault.token(of: record).text.revealed()
            }
        }
        guard let text else {
            throw TokenVaultError(.invalidArgument, "the vault does not have \(token)")
        }
        return text
    }

    /// Removes the tokens of a user. Apple is not told: revoke them before.
    ///
    /// - Parameters:
    ///   - userID: the user.
    ///   - clientID: the client that they were issued to; nil for all clients of the vault.
    ///   - isErasing: deletes the user's history with these clients as well.
    /// - Returns: the number of removed tokens.
    /// - Throws: ``TokenVaultError``.
    @discardableResult
    public func remove(
        userID: String, clientID: String? = nil, isErasing: Bool = false
    ) async throws(TokenVaultError) -> Int {
        let given = try given(userID, clientID)
        return try await run { vault, now throws(StoreError) in
            var count = 0
            for user in try vault.users(given, withID: userID) {
                let page = try vault.keyless.remove(user, isErasing: isErasing, at: now)
                count += page.records.count + page.damaged.count
            }
            return count
        }
    }

    /// The records of a user for one client, or for all clients of the vault.
    func allRecords(
        ofUser userID: String, ofClient clientID: String? = nil
    ) async throws(TokenVaultError) -> VaultPage {
        let given = try given(userID, clientID)
        return try await run { vault, _ throws(StoreError) in
            try vault.store.records(of: vault.users(given, withID: userID))
        }
    }

    /// The user of one client; nil for all clients.
    private func given(
        _ userID: String, _ clientID: String?
    ) throws(TokenVaultError) -> VaultUser? {
        let user = try vaultUser(userID, clientID ?? "every.client")
        return clientID == nil ? nil : user
    }

    func vaultUser(_ userID: String, _ clientID: String) throws(TokenVaultError) -> VaultUser {
        do throws(IdentifierError) {
            return try VaultUser(ClientID(validating: clientID), validating: userID)
        } catch {
            throw TokenVaultError(.invalidArgument, "'\(error.text)' \(error.fault)")
        }
    }
}

extension Vault {
    /// The given user; without one, a user of every client that has records.
    fileprivate func users(
        _ given: VaultUser?, withID userID: String
    ) throws(StoreError) -> [VaultUser] {
        if let given { return [given] }
        return try store.clients().compactMap { try? VaultUser($0, validating: userID) }
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
