internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWASystem
internal import SIWAVaultRecords
internal import Synchronization

/// The file `unsaved-tokens` of the state folder: tokens that a server could not store yet, sealed with
/// the vault's key, one JSON object a line. Its space is reserved at the start, because the disk may be
/// full when it is needed.
///
/// Processes that share the folder have a file each: `unsaved-tokens.2`, `unsaved-tokens.3`, …
struct UnsavedTokenFile: Sendable {
    private let own: HeldFile
    private let folder: String
    /// The tokens of this and of other files that no process used, as they were at the start.
    let saved: [SavedToken]

    private static let reserved = 64 << 10

    /// Takes a file, and other files that no process uses and that have tokens.
    ///
    /// - Throws: ``Diagnosis`` if no file can be used.
    init(in folder: String, _ log: ServerLog, _ world: World) throws(Diagnosis) {
        var (held, saved): ([HeldFile], [SavedToken]) = ([], [])
        for number in 1...UnsavedTokens.mostFiles {
            let path = UnsavedTokens.file(number, in: folder)
            guard held.isEmpty || world.files.exists(path) else { continue }
            do throws(FileError) {
                let files = world.files
                let open = { @Sendable () throws(FileError) in
                    try files.reserve(path, Self.reserved)
                }
                guard let file = try open() else { continue }
                let place = try HeldFile(file, path, opening: open)
                let isNeeded = held.isEmpty || !place.tokens.isEmpty
                if isNeeded { held.append(place) } else { file.release() }
                saved += place.tokens
            } catch {
                guard !held.isEmpty else { throw Self.unusable(error, folder) }
                log(.error, "unsaved_tokens_unreadable", [.init("reason", .string("\(error)"))])
            }
        }
        guard let own = held.first else {
            throw Self.unusable(
                FileError("lock", folder, reason: "other processes use all its files"), folder)
        }
        (self.own, self.saved, self.folder) = (own, saved, folder)
    }

    /// Writes the file again if it was removed or replaced; tells why it could not.
    func restore() -> String? {
        do throws(FileError) {
            try own.change { _ in }
            return nil
        } catch {
            return Self.unusable(error, folder).message
        }
    }

    /// Fails as ``init(in:_:_:)`` would because of the folder, and changes nothing.
    static func check(in folder: String, _ world: World) throws(Diagnosis) {
        do throws(FileError) {
            try world.files.checkReservation(UnsavedTokens.file(1, in: folder), reserved)
        } catch {
            throw unusable(error, folder)
        }
    }

    /// Which keys the tokens in the files of a folder need and `keys` lacks; nil if none.
    static func missingKeys(
        in folder: String, _ keys: VaultKeyRing, _ world: World
    ) -> String? {
        let files = (1...UnsavedTokens.mostFiles).compactMap {
            try? world.files.readRegular(UnsavedTokens.file($0, in: folder))
        }
        let records = files.flatMap { file in
            // The rest of a file is reserved space.
            String(decoding: file.contents.revealed().prefix { $0 != 0 }, as: UTF8.self)
                .split(separator: "\n").compactMap { try? VaultRecord(unsaved: String($0)) }
        }
        let missing = Set(records.map(\.keyNumber)).subtracting(keys.numbers).sorted()
        guard !missing.isEmpty else { return nil }
        return "tokens in \(folder)/unsaved-tokens cannot be stored without key "
            + missing.map(String.init).joined(separator: ", ")
            + " of the vault, which its key file lacks: add that key's line from its backup"
    }

    private static func unusable(_ error: FileError, _ folder: String) -> Diagnosis {
        Diagnosis(
            .configuration, "server.state: \(error)",
            hints: error.advice(
                or: "let this user write to \(folder) and to the files unsaved-tokens in it, which "
                    + "may hold tokens; or set server.state to another folder"),
            exitCode: error.isTemporary ? .temporary : .settings)
    }

    /// Keeps tokens in the file, sealed by the vault's current key.
    func keeper(_ vault: SharedVault, _ world: World) throws(Diagnosis) -> TokenKeeper {
        do {
            return TokenKeeper(on: try world.threads(1)) { save($0, sealedBy: vault.current) }
        } catch {
            throw Diagnosis(error)
        }
    }

    /// Adds a token.
    ///
    /// - Returns: what removes it; nil if it is not on disk.
    private func save(_ token: UnsavedToken, sealedBy vault: Vault) -> TokenKeeper.Removal? {
        guard let line = try? vault.unsavedLine(token),
            (try? own.change { $0.append(line) }) != nil
        else { return nil }
        let saved = SavedToken(line: line, place: own)
        // If it stays there, the next start finds that the vault knows it.
        return { try? saved.remove() }
    }
}

/// A token of a file `unsaved-tokens`. It stays there until the vault has it.
struct SavedToken: Sendable {
    fileprivate let line: String
    fileprivate let place: HeldFile

    /// The token, sealed.
    ///
    /// - Throws: ``StoreError`` of kind `recordDamaged` if the line is none.
    private var record: VaultRecord {
        get throws(StoreError) { try VaultRecord(unsaved: line) }
    }

    /// The owner; nil if the line does not tell.
    var user: VaultUser? { (try? record)?.user }

    /// Stores the token as `siwa vault import` does, and removes it from the file. Events of the user
    /// that arrived meanwhile concern it, too.
    func store(
        in store: ServerStore, _ vault: SharedVault, _ clients: ProfileClients, at now: NumericDate,
        _ log: ServiceLog
    ) throws(StoreError) {
        let record = try record
        let view = store.vault(heeding: clients.audiences(concerning: record.user.clientID))
        try vault.with { vault throws(StoreError) in
            _ = try vault.token(of: record)
            let counts = try vault.through(view).merge([record], at: now)
            if let fault = counts.broken.first { throw fault }
        }
        do throws(FileError) { try remove() } catch { throw StoreError(.full, "\(error)") }
        log(
            ServiceEvent(
                .info, "unsaved_token_stored",
                about: LogSubject(record.user, fingerprint: record.id.fingerprint.rawValue)))
    }

    fileprivate func remove() throws(FileError) {
        try place.change { lines in lines.removeAll { $0 == line } }
    }

    /// The event that the token could not be stored.
    func kept(because error: StoreError) -> ServiceEvent {
        let number = place.lines.firstIndex(of: line).map { "line \($0 + 1) of " } ?? ""
        return ServiceEvent(
            .error, "unsaved_token_kept",
            [.init("reason", .string("\(number)\(place.path): \(error.message)"))],
            naming: error.userID)
    }
}

/// A file that this process uses, and its lines.
private final class HeldFile: Sendable {
    /// The file in use, and what it has.
    private struct Contents {
        var file: ReservedFile
        var lines: [String]
    }

    let path: String
    private let open: @Sendable () throws(FileError) -> ReservedFile?
    private let state: Mutex<Contents>

    init(
        _ file: ReservedFile, _ path: String,
        opening open: @escaping @Sendable () throws(FileError) -> ReservedFile?
    ) throws(FileError) {
        (self.path, self.open) = (path, open)
        state = Mutex(Contents(file: file, lines: try Self.lines(of: file)))
    }

    var lines: [String] { state.withLock { $0.lines } }

    var tokens: [SavedToken] { lines.map { SavedToken(line: $0, place: self) } }

    /// Replaces the lines, in the file first. If another file, or none, has its name now, that one gets
    /// them, and keeps its own, which the next start reads.
    func change(_ body: (inout [String]) -> Void) throws(FileError) {
        try state.withLock { contents throws(FileError) in
            var new = contents.lines
            body(&new)
            let isInPlace = contents.file.isInPlace()
            guard !isInPlace || new != contents.lines else { return }
            if !isInPlace {
                guard let file = try open() else {
                    throw FileError("lock", path, reason: "another process uses it")
                }
                do throws(FileError) {
                    let known = Set(contents.lines + new)
                    new += try Self.lines(of: file).filter { !known.contains($0) }
                } catch {
                    file.release()
                    throw error
                }
                contents.file.release()
                contents.file = file
            }
            try contents.file.replace(new.flatMap { Array($0.utf8) + [0x0A] })
            contents.lines = new
        }
    }

    private static func lines(of file: ReservedFile) throws(FileError) -> [String] {
        String(decoding: try file.contents(), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

extension Vault {
    /// The line of a token, sealed.
    func unsavedLine(_ token: UnsavedToken) throws(StoreError) -> String {
        let record = try sealed(
            VaultItem(
                user: token.user, token: token.token, storedAt: token.receivedAt,
                changedAt: token.receivedAt, signedInAt: token.signedInAt))
        let members: [JSON.Member] = [
            .init("client_id", .string(record.user.clientID.rawValue)),
            .init("user_id", .string(record.user.userID.rawValue)),
            .init("token_fingerprint", .string(record.id.fingerprint.rawValue)),
            .init("key_number", .integer(record.keyNumber)),
            .init("sealed", .string(Base64URL.encode(record.sealed))),
            .init("stored_at", .integer(record.storedAt.seconds)),
            .init("signed_in_at", record.signedInAt.map { .integer($0.seconds) } ?? .null),
        ]
        return JSON.object(members).text
    }
}

extension VaultRecord {
    /// Reads the line of a token.
    ///
    /// - Throws: ``StoreError`` of kind `recordDamaged`.
    fileprivate init(unsaved line: String) throws(StoreError) {
        let limits = 0...253_402_300_799
        guard let json = try? JSON(text: line), let owner = UnsavedTokens.owner(of: json),
            let fingerprint = json["token_fingerprint"]?.string.flatMap({ TokenFingerprint($0) }),
            let keyNumber = json["key_number"]?.integer,
            VaultKeyRing.possibleNumbers.contains(keyNumber),
            let sealed = json["sealed"]?.string.flatMap({ try? Base64URL.decode($0) }),
            let storedAt = json["stored_at"]?.integer, limits.contains(storedAt)
        else { throw StoreError(.recordDamaged, "it is not a sealed token") }
        let signedInAt = json["signed_in_at"]?.integer.flatMap { limits.contains($0) ? $0 : nil }
        self.init(
            id: VaultRecordID(owner, fingerprint), state: .active, keyNumber: keyNumber,
            sealed: sealed, storedAt: NumericDate(storedAt),
            signedInAt: signedInAt.map { NumericDate($0) }, changedAt: NumericDate(storedAt))
    }
}
