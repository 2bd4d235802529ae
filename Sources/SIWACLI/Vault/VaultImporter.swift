internal import JOSE
internal import Lifecycle
internal import LocalFiles
internal import SIWACrypto

/// Stores lines in a vault, a group of them in each transaction.
struct VaultImporter {
    /// What became of the lines.
    private(set) var counts = VaultImportCounts()
    private(set) var invalid = InvalidLines()

    private var vault: Vault
    private let keys: () throws -> VaultKeyRing
    private let options: Options
    private let ending: Ending
    /// What a dry run would have stored so far.
    private var preview = VaultImportPreview()
    private var format: VaultItemFormat?
    /// The number of the line in which the present record began.
    private var firstLine = 0
    private var group: [VaultItem] = []

    /// How lines are read and stored.
    struct Options {
        /// The client of lines without a client id.
        let clientID: ClientID?
        let overwritesStates: Bool
        let isDryRun: Bool
        let now: () -> NumericDate
    }

    /// - Parameter keys: reads the keys as they are now.
    init(
        _ vault: Vault, keys: @escaping () throws -> VaultKeyRing, _ options: Options,
        _ ending: Ending
    ) {
        (self.vault, self.keys, self.options) = (vault, keys, options)
        self.ending = ending
    }

    /// Takes a line, or remembers what is wrong with it.
    mutating func take(_ line: InputLine) throws {
        let bytes = line.number == 1 ? line.bytes?.withoutByteOrderMark : line.bytes
        if !isInsideRecord {
            firstLine = line.number
            // A file's last line is often empty.
            if let bytes, bytes.isBlank { return }
        }
        do throws(InvalidLine) {
            guard let bytes else { throw .tooLong }
            if let item = try item(bytes) { group.append(item) }
        } catch {
            invalid.add(firstLine, error)
        }
        guard group.count == vaultPageSize else { return }
        try flush()
        try ending.checkSignal()
    }

    /// Nil for a header, and for the beginning of a record that continues in the next line.
    private mutating func item(_ line: SecretBytes) throws(InvalidLine) -> VaultItem? {
        guard var format else {
            format = try VaultItemFormat(firstLine: line)
            if case .csv = format { return nil }
            return try item(line)
        }
        defer { self.format = format }
        guard let text = try format.object(line) else { return nil }
        return try VaultItem(text, clientID: options.clientID, now: options.now())
    }

    /// Reports a record that the end of the input cut off, and stores what is left.
    mutating func finish() throws {
        if isInsideRecord {
            invalid.add(firstLine, InvalidLine(nil, "a quoted field does not end"))
        }
        try flush()
    }

    private var isInsideRecord: Bool { format?.isInsideRecord ?? false }

    private mutating func flush() throws {
        counts += try options.isDryRun ? count(group) : ending.completing { try store(group) }
        group = []
    }

    private mutating func store(_ items: [VaultItem]) throws -> VaultImportCounts {
        let options = options
        return try vault.renewing(keys) { vault throws(VaultError) in
            try vault.take(items, overwritesStates: options.overwritesStates, at: options.now())
        }
    }

    private mutating func count(_ items: [VaultItem]) throws -> VaultImportCounts {
        try vault.preview(
            items, overwritesStates: options.overwritesStates, after: &preview,
            at: options.now())
    }
}

/// Lines of an input that could not be used: counted, the first of them named.
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
            "invalid_lines", "\(count) \(count == 1 ? "line was" : "lines were") not \(deed)",
            hints: named + more + [remedy])
    }

    private static let mostNamed = 20
}
