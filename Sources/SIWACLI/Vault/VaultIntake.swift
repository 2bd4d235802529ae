internal import LocalFiles
internal import SignInWithApple

/// Takes lines into a vault, a group of them in each transaction.
struct VaultIntake {
    /// What became of the lines.
    private(set) var counts = VaultImportCounts()
    private(set) var invalid = InvalidLines()

    private var vault: Vault
    private let keys: () throws -> VaultKeyRing
    private let clientID: ClientID?
    private let now: () -> NumericDate
    private var group: [VaultItem] = []

    /// - Parameters:
    ///   - keys: reads the keys as they are now.
    ///   - clientID: of lines that name none.
    init(
        _ vault: Vault, keys: @escaping () throws -> VaultKeyRing, _ clientID: ClientID?,
        now: @escaping () -> NumericDate
    ) {
        (self.vault, self.keys, self.clientID, self.now) = (vault, keys, clientID, now)
    }

    /// Takes a line, or remembers why not.
    mutating func take(_ line: InputLine) throws {
        // Spent in vain on a line that is empty: a file's last one often is.
        if let bytes = line.bytes, bytes.isBlank { return }
        do throws(InvalidLine) {
            guard let bytes = line.bytes else { throw .tooLong }
            group.append(
                try VaultItem(bytes, clientID: clientID, now: now()))
        } catch {
            invalid.add(line.number, error)
        }
        if group.count == vaultPageSize { try flush() }
    }

    /// Writes what is left.
    mutating func flush() throws {
        let (items, moment) = (group, now())
        counts += try vault.renewing(keys) { vault throws(VaultError) in
            try vault.take(items, at: moment)
        }
        group = []
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

    /// - Throws: ``NegativeAnswer`` when there are any.
    func check() throws(NegativeAnswer) {
        guard count > 0 else { return }
        let more = count > named.count ? ["and \(count - named.count) more"] : []
        throw NegativeAnswer(
            "invalid_lines",
            "\(count) \(count == 1 ? "line was" : "lines were") not imported",
            hints: named + more + [
                "mend the lines and import them again; 'siwa vault export' writes tokens only "
                    + "with --reveal"
            ])
    }

    private static let mostNamed = 20
}
