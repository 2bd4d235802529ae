internal import SIWACrypto
internal import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWASystem
import SIWAVaultRecords

/// Any sequence of writes and of copies that are killed, continued and aborted, with other processes
/// beside them: nothing is lost, nothing is there twice, a marked source refuses changes, and the
/// target is usable only when it is complete.
///
/// An input is a sequence of pairs: what happens, and how. The databases are files, because the
/// progress of a copy is in them.
func checkCopy(_ input: [UInt8]) throws(Violation) {
    do {
        let world = try CopyWorld()
        defer { world.remove() }
        try world.play(input)
    } catch {
        throw error as? Violation ?? Violation("an unexpected error: \(error)")
    }
}

/// Two databases, and what is known of them from the answers to earlier calls.
private struct CopyWorld {
    private let source, target: String
    /// What the copy must have.
    private var expected = Contents()
    private var isMarked = false
    /// Whether the target is complete; the source may not have been told.
    private var isComplete = false
    private var number = 0

    private struct Killed: Error {}

    /// What the readers of a database see.
    private struct Contents: Equatable {
        var tokens: Set<VaultRecord> = []
        /// Rows that cannot be read.
        var damaged: Set<VaultRowKey> = []
        var changes = 0
        var events: Set<EventID> = []
    }

    init() throws {
        let folder = fileExists("/dev/shm") ? "/dev/shm" : "/tmp"
        let name = try "\(folder)/siwa-fuzz-" + Random.bytes(8).hexadecimal
        (source, target) = (name + "-source", name + "-target")
        try vault(source).create(VaultKeyCheck(number: 1, sealed: [1]))
    }

    func remove() {
        for file in [source, target].flatMap({ [$0, $0 + "-wal", $0 + "-shm"] }) {
            try? removeFile(file)
        }
    }

    func play(_ input: [UInt8]) throws {
        var world = self
        for index in stride(from: 0, to: min(input.count - 1, Self.mostEvents), by: 2) {
            try world.happen(input[index], Int(input[index + 1]))
        }
        try world.finish()
    }

    /// Each takes some milliseconds.
    private static var mostEvents: Int { 48 }

    private mutating func happen(_ event: UInt8, _ argument: Int) throws {
        switch event % 8 {
        case 0, 1: try write(argument)
        case 2: try receive(argument)
        case 3: try copy(steps: argument)
        case 4: try abort()
        case 5: try useTarget()
        case 6: try copyUnnoticed()
        default: try copyBesideOthers(argument)
        }
    }

    /// Whoever uses the source finally moves it, and then uses the target.
    private mutating func finish() throws {
        if try copy(steps: .max) == .copyIncomplete {
            // The mark of the source is gone, and so is the progress.
            try abort()
            try demand(try copy(steps: .max) == nil, "a copy cannot be made after an abort")
        }
        try demand(isComplete, "a copy has not ended")
        try write(0)
        try useTarget()
        try demand(try contents(of: source).events.isSubset(of: expected.events), "events appeared")
    }
}

// What the processes do.
extension CopyWorld {
    private func vault(_ path: String) throws -> any VaultStore {
        try openVaultStore("sqlite:" + path, timeout: .eachStatement(.seconds(5)))
    }

    private func server(_ path: String) throws -> ServerStore {
        try ServerStore("sqlite:" + path, timeout: .eachStatement(.seconds(5)))
    }

    private func copy() throws -> any VaultCopying {
        try openVaultCopy(
            VaultCopyPlaces(
                from: .init(url: "sqlite:" + source, name: "source"),
                to: .init(url: "sqlite:" + target, name: "target")),
            timeout: .eachStatement(.seconds(5)))
    }

    /// - Returns: why a change was refused; nil if it was made.
    private func refusal(_ change: () throws -> Void) throws -> StoreError.Kind? {
        do {
            try change()
            return nil
        } catch let error as StoreError {
            return error.kind
        }
    }

    /// Changes the source, which must refuse it if it is marked.
    private func change(_ body: () throws -> Void) throws -> Bool {
        let refusal = try refusal(body)
        try demand(
            refusal == nil ? !isMarked : isMarked && [.moving, .moved].contains(refusal),
            "a source that is\(isMarked ? "" : " not") marked answered: \(refusal, default: "done")"
        )
        return refusal == nil
    }

    private mutating func write(_ argument: Int) throws {
        let record = try record(argument)
        guard try change({ try Self.put(record, into: vault(source)) }) else { return }
        expected.changes += 1
        try note(record)
    }

    /// Rows that cannot be read are known by what a reader says about them.
    private mutating func note(_ record: VaultRecord) throws {
        let page = try vault(source).records(of: [record.user])
        if page.records.contains(record) {
            expected.tokens.insert(record)
        } else {
            let key = VaultRowKey(record.id)
            try demand(page.damaged.contains { $0.key == key }, "a stored row is not found")
            expected.damaged.insert(key)
        }
    }

    private static func put(_ record: VaultRecord, into store: any VaultStore) throws {
        try store.change(.users([record.user]), releasing: nil) { _ in
            VaultChanges(
                updates: [VaultUpdate(record, replacing: nil)],
                history: [
                    VaultHistoryEntry(
                        at: record.changedAt, event: .stored, user: record.user,
                        fingerprint: record.id.fingerprint,
                        actor: VaultActor(command: "fuzz", host: "host"))
                ])
        }
    }

    /// A token that nobody has stored yet, with values that siwa never writes.
    private mutating func record(_ argument: Int) throws -> VaultRecord {
        number += 1
        let text = Self.texts[argument % Self.texts.count]
        let digits = String(number)
        let number = Self.numbers[argument / 16 % Self.numbers.count]
        let padded = String(repeating: "0", count: 12 - digits.count) + digits
        guard let fingerprint = TokenFingerprint(padded) else {
            preconditionFailure("twelve digits are a fingerprint")
        }
        return VaultRecord(
            id: VaultRecordID(
                VaultUser(
                    ClientID(unchecked: argument.isMultiple(of: 3) ? text : "com.example.app"),
                    UserID(unchecked: text + digits)),
                fingerprint),
            state: VaultState.allCases[argument % VaultState.allCases.count], keyNumber: 1,
            sealed: Array(text.utf8), storedAt: NumericDate(number),
            changedAt: NumericDate(number), checkedAt: argument < 128 ? nil : NumericDate(number))
    }

    private static let texts = [
        "a", "", "\u{0}", "'\"\\", "é\u{301}", "\u{202E}🐘", "%_", "\u{1}\u{7F}",
        String(repeating: "x", count: 2_000),
    ]
    private static let numbers = [1_700_000_000, 0, -1, .max, .min]

    /// A server stores an event in the source, and creates its tables if they are missing.
    private mutating func receive(_ argument: Int) throws {
        number += 1
        guard let id = EventID("event-\(number)") else { return }
        let event = IncomingEvent(
            InboxEvent(
                id: id, type: "consent-revoked",
                user: VaultUser(
                    ClientID(unchecked: "com.example.app"), UserID(unchecked: "\(argument)")),
                occurredAt: NumericDate(1_790_000_000), receivedAt: NumericDate(1_790_000_000),
                expiresAt: NumericDate(2_000_000_000), body: [UInt8(argument)]),
            isDelivered: argument.isMultiple(of: 2), notice: nil)
        let isReceived = try change {
            let server = try server(source)
            try server.prepare(isAlone: true)
            _ = try server.receive([event]) { _, _ in VaultChanges() }
        }
        if isReceived { expected.events.insert(id) }
    }

    /// Somebody tries to use the target.
    private mutating func useTarget() throws {
        let record = try record(0)
        let refusal = try refusal { try Self.put(record, into: vault(target)) }
        try demand(
            refusal == nil
                ? isComplete : !isComplete && [.copyIncomplete, .notInitialized].contains(refusal),
            "a target that is\(isComplete ? "" : " not") complete answered: "
                + "\(refusal, default: "done")")
        guard refusal == nil else { return }
        expected.tokens.insert(record)
        expected.changes += 1
    }

    private func contents(of path: String) throws -> Contents {
        var contents = Contents()
        let (store, server) = (try vault(path), try server(path))
        let page = try store.records(VaultFilter(), after: nil, limit: 10_000)
        (contents.tokens, contents.damaged) = (Set(page.records), Set(page.damaged.map(\.key)))
        try demand(
            contents.tokens.count + contents.damaged.count
                == page.records.count + page.damaged.count, "a token is there twice")
        contents.changes = try store.historyCount(since: nil, until: nil)
        if try refusal({ _ = try server.check() }) != .serverNotInitialized {
            let inbox = try server.inbox(InboxFilter(), before: nil, limit: 10_000)
            contents.events = Set(inbox.entries.map(\.id))
            try demand(contents.events.count == inbox.entries.count, "an event is there twice")
        }
        return contents
    }
}

// Copies.
extension CopyWorld {
    /// Copies, and is killed after some steps.
    ///
    /// - Returns: why the copy was refused; nil if it was not.
    @discardableResult
    private mutating func copy(steps: Int) throws -> StoreError.Kind? {
        let wasComplete = isComplete
        var left = steps
        do {
            let result = try copy().run { _ in
                isMarked = true
                guard left > 0 else { throw Killed() }
                left -= 1
            }
            try demand((result == .wasComplete) == wasComplete, "a copy was made twice")
            (isMarked, isComplete) = (true, true)
            try checkTarget()
        } catch is Killed {
        } catch let error as StoreError {
            try demand(error.kind == .copyIncomplete, "a copy was refused: \(error)")
            return error.kind
        }
        return nil
    }

    private func checkTarget() throws {
        let found = try contents(of: target)
        try demand(found.tokens == expected.tokens, "the target has other tokens")
        try demand(found.damaged == expected.damaged, "the target has other damaged rows")
        try demand(found.changes == expected.changes, "the target has another history")
        try demand(found.events == expected.events, "the target has other events")
    }

    private mutating func abort() throws {
        let refusal = try refusal { _ = try copy().abort() }
        try demand(
            refusal == nil
                ? !isComplete : isComplete && [.moved, .alreadyInitialized].contains(refusal),
            "an abort answered: \(refusal, default: "done")")
        if refusal == nil { isMarked = false }
    }

    /// The power fails after the target is complete and before the source knows.
    private mutating func copyUnnoticed() throws {
        guard isMarked, !isComplete else { return }
        let before = try readFile(source, limit: 1 << 26).contents
        let refusal = try copy(steps: .max)
        guard refusal == nil else { return }
        try writeFile(before, to: source)
    }

    /// Another process works on the same two databases while a copy runs, which then goes on.
    private mutating func copyBesideOthers(_ argument: Int) throws {
        guard !isComplete else { return }
        let wasMarked = isMarked
        var left = argument / 4 % 32
        do {
            _ = try copy().run { _ in
                isMarked = true
                left -= 1
                guard left == 0 else { return }
                switch argument % 4 {
                case 0: try write(argument)
                case 1: try copy(steps: .max)
                case 2: try abort()
                default: try useTarget()
                }
            }
            (isMarked, isComplete) = (true, true)
            try checkTarget()
        } catch let error as StoreError {
            // The other one has ended the move, or aborted it.
            try demand(
                argument % 4 == 1 && isComplete || argument % 4 == 2 && !isMarked
                    || !wasMarked && error.kind == .copyIncomplete,
                "a copy beside others was refused: \(error)")
        }
    }
}
