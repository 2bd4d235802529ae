internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWASystem
internal import SIWAVaultRecords

/// The file `unsaved-tokens` of the state folder: tokens that a server could not store before it
/// ended, sealed with the vault's key, one JSON object a line. Its space is reserved at the start,
/// because the disk may be full when it is needed.
///
/// Processes that share the folder have a file each: `unsaved-tokens.2`, `unsaved-tokens.3`, …
struct UnsavedTokenFile: Sendable {
    private let file: ReservedFile
    private let path: String
    /// The lines that could not be stored at the start, which stay.
    private let keptLines: [String]

    private static let reserved = 64 << 10
    /// The most processes that can share a folder.
    private static let most = 32

    /// Takes a file, and stores the tokens of this and of other files that no process uses.
    ///
    /// - Throws: ``Diagnosis`` if no file can be used.
    init(
        in folder: String, _ database: OpenDatabase, _ clients: ProfileClients, _ log: ServerLog,
        _ world: World
    ) throws(Diagnosis) {
        var own: (file: ReservedFile, path: String, lines: [String])?
        for number in 1...Self.most {
            let path = folder + "/unsaved-tokens" + (number == 1 ? "" : ".\(number)")
            guard own == nil || world.files.exists(path) else { continue }
            do throws(FileError) {
                guard let file = try world.files.reserve(path, Self.reserved) else { continue }
                let lines = try Self.store(file, path, database, clients, log, world)
                if own == nil { own = (file, path, lines) } else { file.release() }
            } catch {
                guard own != nil else { throw Self.unusable(error, folder) }
                log(.error, "unsaved_tokens_unreadable", [.init("reason", .string("\(error)"))])
            }
        }
        guard let own else {
            throw Self.unusable(
                FileError("lock", folder, reason: "other processes use all its files"), folder)
        }
        (file, path, keptLines) = own
    }

    /// Fails as ``init(in:_:_:_:_:)`` would because of the folder, and changes nothing.
    static func check(in folder: String, _ world: World) throws(Diagnosis) {
        do throws(FileError) {
            try world.files.checkReservation(folder + "/unsaved-tokens", reserved)
        } catch {
            throw unusable(error, folder)
        }
    }

    private static func unusable(_ error: FileError, _ folder: String) -> Diagnosis {
        Diagnosis(
            .configuration, "server.state: \(error)",
            hints: [
                "let this user write to \(folder) and to the files unsaved-tokens in it, which may hold "
                    + "tokens; or set server.state to another folder"
            ],
            exitCode: error.isTemporary ? .temporary : .settings)
    }

    /// The number of tokens that could not be stored.
    var keptCount: Int { keptLines.count }

    /// Stores the tokens of a file as `siwa vault import` does. Events of their users that arrived
    /// meanwhile concern them, too.
    ///
    /// - Returns: the lines that stay, because their tokens could not be stored.
    private static func store(
        _ file: ReservedFile, _ path: String, _ database: OpenDatabase, _ clients: ProfileClients,
        _ log: ServerLog, _ world: World
    ) throws(FileError) -> [String] {
        let text = String(decoding: try file.contents(), as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        guard !lines.isEmpty else { return [] }
        var kept: [String] = []
        for (index, line) in lines.enumerated() {
            do throws(StoreError) {
                let record = try VaultRecord(unsaved: line)
                let view = database.store.vault(
                    heeding: clients.audiences(concerning: record.user.clientID))
                try database.vault.with { vault throws(StoreError) in
                    _ = try vault.token(of: record)
                    let counts = try vault.through(view).merge([record], at: world.clocks.now())
                    if let fault = counts.broken.first { throw fault }
                }
                log(
                    ServiceEvent(
                        .info, "unsaved_token_stored",
                        about: LogSubject(record.user, fingerprint: record.id.fingerprint.rawValue)
                    ))
            } catch {
                kept.append(line)
                log(
                    ServiceEvent(
                        .error, "unsaved_token_kept",
                        [
                            .init(
                                "reason", .string("line \(index + 1) of \(path): \(error.message)"))
                        ], naming: error.userID))
            }
        }
        try file.replace(Self.bytes(kept))
        return kept
    }

    /// Replaces the contents by these tokens, after those that stay.
    ///
    /// - Returns: whether they are on disk.
    func save(_ lines: [String]) -> Bool {
        (try? file.replace(Self.bytes(keptLines + lines))) != nil
    }

    private static func bytes(_ lines: [String]) -> [UInt8] {
        lines.flatMap { Array($0.utf8) + [0x0A] }
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
        guard let json = try? JSON(text: line),
            let client = json["client_id"]?.string, let user = json["user_id"]?.string,
            let clientID = try? ClientID(validating: client),
            let owner = try? VaultUser(clientID, validating: user),
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
