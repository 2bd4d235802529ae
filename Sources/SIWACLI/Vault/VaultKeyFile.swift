internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// The keys of a vault where they are kept: made once, added to, never taken away.
struct VaultKeyFile: Sendable {
    let source: Setting<VaultKeySource>
    private let session: Session

    init(_ session: Session) throws {
        try requireOpenSSL()
        self.session = session
        source = try session.settings.vaultKeySource(session.world.variables)
    }

    /// Nil where the keys stand in a variable.
    var path: String? {
        if case .file(let path) = source.value { path } else { nil }
    }

    /// The keys that are there; the first one is made when there is no file yet.
    func makeIfMissing() throws -> VaultKeyRing {
        if let path {
            do throws(FileError) {
                _ = try session.world.files.read(path)
            } catch  where error.isMissing {
                try make(path)
            } catch {
                // What is wrong with it is told below.
            }
        }
        return try session.vaultKeys()
    }

    private func make(_ path: String) throws {
        let line = try VaultKeyRing.newLine(number: 1)
        do throws(FileError) {
            try session.world.files.create(line, path)
        } catch  where error.isTaken {
            // Somebody else made it this moment: then it is theirs that counts.
        }
    }

    /// The keys with one that is newer than `number`: added to the file unless it is there.
    func withKey(newerThan number: Int) throws -> VaultKeyRing {
        guard let path else { throw cannotAdd(try VaultKeyRing.number(after: number)) }
        guard let lock = try session.world.files.tryLock(path + ".lock") else {
            throw VaultError(.busy, "another siwa is changing the vault's keys")
        }
        defer { lock.release() }
        let old = try session.world.files.read(path).contents
        let keys = try VaultKeyRing(old)
        guard let newest = keys.numbers.last, newest <= number else { return keys }
        var contents = SecretBuffer(capacity: old.count + 80)
        old.withSpan { bytes in
            contents.append(contentsOf: bytes)
            if let last = bytes.indices.last, bytes[last] != 0x0A { contents.append(0x0A) }
        }
        try VaultKeyRing.newLine(number: VaultKeyRing.number(after: number)).withSpan {
            contents.append(contentsOf: $0)
        }
        let new = contents.finished()
        // Nothing is written that could not be read again; and it is on disk before it seals.
        let all = try VaultKeyRing(new)
        try session.world.files.write(new, path, .followed)
        return all
    }

    private func cannotAdd(_ number: Int) -> SettingsError {
        SettingsError(
            .key, "the vault's keys stand in \(source.value.description): siwa cannot add one",
            hints: [
                "add a line '\(number) KEY' there, with KEY the output of 'openssl rand -hex 32', "
                    + "and keep the old lines; then run it again"
            ])
    }
}
