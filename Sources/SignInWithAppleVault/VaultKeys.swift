internal import SIWACrypto
internal import SIWALifecycle
internal import SIWAVaultRecords

/// What a change of the vault's key did.
public struct VaultRekeying: Hashable, Sendable {
    /// The number of the key that encrypts now.
    public let keyNumber: Int
    /// The number of tokens and other secrets that were encrypted with it.
    public let encrypted: Int
    /// Why other tokens could not be encrypted again: damaged rows, and records that cannot be
    /// decrypted. They may contain user ids and fingerprints, but no token.
    public let faults: [String]

    /// Creates a result, for tests.
    public init(keyNumber: Int, encrypted: Int, faults: [String] = []) {
        (self.keyNumber, self.encrypted, self.faults) = (keyNumber, encrypted, faults)
    }
}

// The keys of a vault.
extension TokenVault {
    /// Generates the key of a new vault. Without it, the tokens cannot be read: keep it, separately
    /// from the database.
    ///
    /// - Returns: the text of a key file.
    /// - Throws: ``TokenVaultError`` if the system provides no entropy.
    public static func newKeys() throws(TokenVaultError) -> String {
        try keyText { () throws(StoreError) in try VaultKeyRing.newLine(number: 1) }
    }

    /// Adds a new key to the text of a key file, with which ``rekey()`` encrypts. The old keys stay:
    /// they decrypt.
    ///
    /// - Parameter keys: the text of the key file.
    /// - Returns: the text with one line more.
    /// - Throws: ``TokenVaultError`` of kind `key` if the text is not that of a key file.
    public static func addingKey(to keys: String) throws(TokenVaultError) -> String {
        let line = try keyText { () throws(StoreError) in
            let ring = try VaultKeyRing(SecretBytes(keys.utf8))
            let number = try VaultKeyRing.number(after: ring.numbers.last ?? 0)
            return try VaultKeyRing.newLine(number: number)
        }
        return keys + (keys.hasSuffix("\n") ? "" : "\n") + line
    }

    /// Marks all keys but the newest as retired: they decrypt older backups, and never encrypt again.
    /// Do this after ``rekey()``.
    ///
    /// - Parameter keys: the text of the key file.
    /// - Returns: the text with the word `retired` in the lines of these keys.
    /// - Throws: ``TokenVaultError`` of kind `key` if the text is not that of a key file.
    public static func retiringOldKeys(in keys: String) throws(TokenVaultError) -> String {
        try keyText { () throws(StoreError) in
            let text = SecretBytes(keys.utf8)
            let newest = try VaultKeyRing(text).newest ?? 0
            return try VaultKeyRing.retiring(keysBefore: newest, in: text)
        }
    }

    private static func keyText(
        _ body: () throws(StoreError) -> SecretBytes
    ) throws(TokenVaultError) -> String {
        do throws(StoreError) {
            return String(decoding: try body().revealed(), as: UTF8.self)
        } catch {
            throw TokenVaultError(error)
        }
    }

    private static let pageSize = 500

    /// Encrypts everything in the vault with the newest of its keys.
    ///
    /// First give all programs that use the vault a key file with the new key, see
    /// ``addingKey(to:)``: they go on with it by themselves. The vault can be used meanwhile. If this
    /// fails or is cancelled, call it again: it continues.
    ///
    /// - Returns: what was done.
    /// - Throws: ``TokenVaultError``, of kind `cancelled` if the task was cancelled.
    @discardableResult
    public func rekey() async throws(TokenVaultError) -> VaultRekeying {
        let number = try await adoptNewestKey()
        var encrypted = 0
        var faults: [String] = []
        var before = -1
        // Until nothing is found, because other processes may have stored tokens with the old key.
        while before < encrypted {
            (before, faults) = (encrypted, [])
            encrypted += try await pass(&faults) { vault, last throws(StoreError) in
                try vault.resealRecords(after: last, limit: Self.pageSize)
            }
            encrypted += try await pass(&faults) { vault, last throws(StoreError) in
                try vault.resealSecrets(after: last, limit: Self.pageSize)
            }
        }
        return VaultRekeying(keyNumber: number, encrypted: encrypted, faults: faults)
    }

    /// - Returns: how many were encrypted again.
    private func pass<Row: Sendable>(
        _ faults: inout [String],
        _ page: @escaping @Sendable (Vault, Row?) throws(StoreError) -> ResealedPage<Row>
    ) async throws(TokenVaultError) -> Int {
        var count = 0
        var last: Row?
        repeat {
            guard !Task.isCancelled else { throw .cancelled }
            let done = try await run { [last] vault, _ throws(StoreError) in try page(vault, last) }
            count += done.count
            faults += done.faults.map(\.message)
            last = done.next
        } while last != nil
        return count
    }
}
