internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords

/// Imports lines into a vault: encrypts them as they arrive, sorts them in the order of the vault's
/// records, and merges them in groups, one per transaction. With sorted records, the database
/// writes each page only once.
struct VaultImporter {
    /// The counts of the lines.
    private(set) var counts = VaultImportCounts()
    private(set) var invalid = InvalidLines()
    /// The lines whose tokens do not look like Apple's; see ``judgeRevocable(_:as:)``.
    private(set) var unusual = LineNumbers()
    /// The clients of the tokens; of very many, only some.
    private(set) var clients: Set<ClientID> = []
    /// The invalid lines since the last ``takeRejected()``, as JSON lines without a token.
    private var rejected: [UInt8] = []

    private var vault: Vault
    private let keys: () throws -> VaultKeyRing
    private let options: Options
    private let ending: Ending
    private let sort: ExternalSort
    private var format: VaultItemFormat?
    /// The number of the line in which the current record began.
    private var firstLine = 0

    /// The options of an import.
    struct Options {
        /// The client of lines without a client id.
        let clientID: ClientID?
        let overwritesStates: Bool
        let isDryRun: Bool
        let csv: CSVOptions
        let now: () -> NumericDate
    }

    /// - Parameter keys: reads the current keys.
    init(
        _ vault: Vault, keys: @escaping () throws -> VaultKeyRing, _ options: Options,
        in world: World
    ) {
        (self.vault, self.keys, self.options) = (vault, keys, options)
        (ending, sort) = (world.ending, world.streams.sort())
    }

    /// Encrypts a line, or records its fault.
    ///
    /// - Throws: ``Diagnosis`` if the first line shows that none can be read.
    mutating func take(_ line: InputLine) throws {
        let bytes = line.number == 1 ? line.bytes?.withoutByteOrderMark : line.bytes
        if !isInsideRecord {
            firstLine = line.number
            // A file's last line is often empty.
            if let bytes, bytes.isBlank { return }
        }
        if format == nil, let bytes {
            format = try VaultItemFormat(firstLine: bytes, number: line.number, options.csv)
            if case .csv = format { return }
        }
        let record: VaultItem
        var text: SecretBytes?
        do throws(InvalidLine) {
            guard let bytes else { throw .tooLong }
            guard format != nil else { throw VaultItemFormat.unknown }
            text = try format?.object(bytes)
            guard let text else { return }
            record = try VaultItem(text, clientID: options.clientID, now: options.now())
        } catch {
            return reject(error, text)
        }
        let look = try? judgeRevocable(record.token.text, as: .refreshToken)
        if look != .usual { unusual.add(firstLine) }
        if clients.count < Self.mostClients { clients.insert(record.user.clientID) }
        let sealed = try vault.sealed(record)
        try sort.add(sealed.sortKey, sealed.sortValue)
    }

    /// - Parameter text: the JSON object of the line, if it could be read.
    private mutating func reject(_ problem: InvalidLine, _ text: SecretBytes?) {
        let problem = format?.worded(problem) ?? problem
        invalid.add(firstLine, problem)
        var line = JSONLine(after: rejected)
        line.add("line", firstLine)
        line.add("reason", printable(problem.reason))
        let object = text.flatMap { try? JSONText($0.revealed()) }
        if let id = Self.identifier(object?["client_id"]) { line.add("client_id", id) }
        if let id = Self.identifier(object?["user_id"]) { line.add("user_id", id) }
        rejected = line.finished()
    }

    /// An id of an invalid line; nil if it may be a token in the wrong place.
    private static func identifier(_ value: JSON?) -> String? {
        guard let text = value?.string, !looksLikeToken(text) else { return nil }
        return printable(text)
    }

    /// The invalid lines since the last call: `{"line","reason","client_id"?,"user_id"?}`.
    mutating func takeRejected() -> [UInt8] {
        defer { rejected = [] }
        return rejected
    }

    /// Reports an incomplete record at the end of the input, and merges all lines into the vault.
    mutating func finish(_ progress: RecordProgress) throws {
        if isInsideRecord {
            reject(InvalidLine(nil, "a quoted field does not end"), nil)
        }
        let entries = try sort.sorted()
        var last: VaultRecord?
        while case let group = try Self.group(of: entries), !group.isEmpty {
            counts +=
                try options.isDryRun
                ? vault.previewMerge(
                    group, overwritesStates: options.overwritesStates, after: &last,
                    at: options.now())
                : ending.completing { try merge(group) }
            progress.add(group.count)
            try ending.checkSignal()
        }
        progress.end()
    }

    /// The number of encrypted records that are not merged yet.
    var staged: Int { sort.count }

    private var isInsideRecord: Bool { format?.isInsideRecord ?? false }

    private static func group(of entries: SortedEntries) throws -> [VaultRecord] {
        var (group, size): ([VaultRecord], Int) = ([], 0)
        while group.count < groupSize, size < groupBytes, let entry = try entries.next() {
            size += entry.value.count
            guard let record = VaultRecord(sortKey: entry.key, value: entry.value) else {
                throw entries.damaged
            }
            group.append(record)
        }
        return group
    }

    private mutating func merge(_ records: [VaultRecord]) throws -> VaultImportCounts {
        let options = options
        return try vault.renewing(keys) { vault throws(StoreError) in
            try vault.merge(
                records, overwritesStates: options.overwritesStates, at: options.now())
        }
    }

    /// The number of records in one transaction, for which other processes wait.
    private static let groupSize = 2500
    private static let mostClients = 100
    /// Tokens may be longer than Apple's.
    private static let groupBytes = 1 << 20
}

/// The numbers of lines; the first ones are kept.
struct LineNumbers: Sendable {
    private(set) var count = 0
    private var first: [Int] = []

    mutating func add(_ number: Int) {
        count += 1
        if first.count < Self.mostNamed { first.append(number) }
    }

    /// `line 2`, `lines 2, 3 and 5`, or `lines 2, 3, …, 9 and 12 more`.
    var words: String {
        guard let last = first.last, first.count > 1 else { return "line \(first.first ?? 0)" }
        let more = count - first.count
        let named = (more > 0 ? first : first.dropLast()).map(String.init)
        return "lines \(named.joined(separator: ", ")) and "
            + (more > 0 ? "\(more) more" : "\(last)")
    }

    private static let mostNamed = 20
}

/// The number of invalid lines of an input, and the first fault.
struct InvalidLines: Sendable {
    private(set) var count = 0
    private var named: [String] = []

    mutating func add(_ number: Int, _ problem: InvalidLine) {
        count += 1
        if named.count < Self.mostNamed { named.append("line \(number): \(problem.reason)") }
    }

    /// - Parameters:
    ///   - deed: what was not done, as in "3 lines were not imported".
    ///   - remedy: what to do about it.
    /// - Throws: ``Diagnosis`` if there are any.
    func check(_ deed: String, remedy: String) throws(Diagnosis) {
        guard count > 0 else { return }
        let more = count > named.count ? ["and \(count - named.count) more"] : []
        throw Diagnosis.negative(
            .invalidLines, "\(count) \(count == 1 ? "line was" : "lines were") not \(deed)",
            hints: named + more + [remedy])
    }

    private static let mostNamed = 20
}
