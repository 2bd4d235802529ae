internal import SIWAApplication
internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords

/// The file of a vault's keys. Keys are added, and never removed.
struct VaultKeyFile: Sendable {
    let source: Setting<VaultKeySource>
    private let session: Session

    init(_ session: Session) throws {
        try requireOpenSSL()
        self.session = session
        source = try session.settings.vaultKeySource(session.world.variables)
    }

    /// Nil if the keys are in a variable.
    var path: String? {
        if case .file(let path) = source.value { path } else { nil }
    }

    /// The existing keys; creates the file with the first key if it is missing.
    func makeIfMissing() throws -> VaultKeyRing {
        if let path {
            do throws(FileError) {
                _ = try session.world.files.read(path)
            } catch  where error.isMissing {
                try make(path)
            } catch {
                // The code below reports the fault.
            }
        }
        return try session.vaultKeys()
    }

    private func make(_ path: String) throws {
        let line = try VaultKeyRing.newLine(number: 1)
        do throws(FileError) {
            try session.world.files.create(line, path)
        } catch  where error.isTaken {
            // Another process created it at the same time: use its key.
        }
    }

    /// The keys, including one newer than `number`, which is added to the file if it is missing.
    func withKey(newerThan number: Int) throws -> VaultKeyRing {
        guard let path else { throw cannotAdd(try VaultKeyRing.number(after: number)) }
        let lock = try lock(path)
        defer { lock.release() }
        let old = try session.world.files.read(path).contents
        let keys = try VaultKeyRing(old)
        if let newest = keys.newest, newest > number { return keys }
        let next = try VaultKeyRing.number(after: max(number, keys.numbers.last ?? 0))
        var contents = SecretBuffer(capacity: old.count + 80)
        old.withSpan { bytes in
            contents.append(contentsOf: bytes)
            if let last = bytes.indices.last, bytes[last] != 0x0A { contents.append(0x0A) }
        }
        try VaultKeyRing.newLine(number: next).withSpan { contents.append(contentsOf: $0) }
        let new = contents.finished()
        // The key is read again as a check, and is on disk before it encrypts anything.
        let all = try VaultKeyRing(new)
        try session.world.files.write(new, path, .followed)
        return all
    }

    /// Marks the keys with lower numbers as retired.
    func retire(keysBefore number: Int) throws {
        guard try !session.vaultKeys().unretiredNumbers(before: number).isEmpty else { return }
        guard let path else {
            return session.console.warn(
                "keys before key \(number) can encrypt again if the database is changed: "
                    + "append 'retired' to their lines in \(source.value.description)")
        }
        let lock = try lock(path)
        defer { lock.release() }
        let old = try session.world.files.read(path).contents
        let new = try VaultKeyRing.retiring(keysBefore: number, in: old)
        _ = try VaultKeyRing(new)
        try session.world.files.write(new, path, .followed)
    }

    private func lock(_ path: String) throws -> FileLock {
        guard let lock = try session.world.files.tryLock(path + ".lock") else {
            throw StoreError(.busy, "another siwa is changing the vault's keys")
        }
        return lock
    }

    private func cannotAdd(_ number: Int) -> SettingsError {
        SettingsError(
            .key, "the vault's keys are in \(source.value.description): siwa cannot add one",
            hints: [
                "add a line '\(number) KEY' there, with KEY the output of 'openssl rand -hex 32', "
                    + "and keep the old lines; then run it again"
            ])
    }
}

extension VaultKeyRing {
    fileprivate func unretiredNumbers(before number: Int) -> [Int] {
        numbers.filter { $0 < number && !retiredNumbers.contains($0) }
    }
}
