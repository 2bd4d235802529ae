internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords
internal import Synchronization

/// The progress of a long command, shown on a terminal, and its summary.
final class Progress: Sendable {
    private let tally: Tally
    private let expected: @Sendable () -> Int?
    private let isTotal: Bool
    private let timekeeper: Timekeeper
    private let show: (@Sendable (String) -> Void)?
    private let start: Duration
    private let lastShown: Mutex<Duration>

    /// The count that the command shows.
    struct Tally: Sendable {
        /// The current number.
        let count: @Sendable () -> Int
        /// The same in words: `99990 done, 6 refused`. While the command runs, the words may say more,
        /// such as the total if it is known.
        let words: @Sendable (_ isRunning: Bool, _ total: Int?) -> String
    }

    /// - Parameters:
    ///   - expected: an estimate of the total; nil if unknown.
    ///   - isTotal: whether `expected` was counted, and is shown.
    init(
        _ tally: Tally, _ world: World, isQuiet: Bool, isTotal: Bool = false,
        expected: @escaping @Sendable () -> Int?
    ) {
        (self.tally, self.expected, self.isTotal) = (tally, expected, isTotal)
        timekeeper = world.clocks.timekeeper
        show = isQuiet ? nil : world.streams.progress
        start = timekeeper.elapsed()
        lastShown = Mutex(start)
    }

    /// Shows the progress, a few times per second.
    func update() {
        guard let show else { return }
        let now = timekeeper.elapsed()
        let isDue = lastShown.withLock { last in
            guard now - last > .milliseconds(200) else { return false }
            last = now
            return true
        }
        if isDue { show(line) }
    }

    /// Clears the line.
    func clear() { show?("") }

    /// The duration of the run so far, in seconds with three decimals: `12.300`.
    var seconds: String {
        let milliseconds = Int((timekeeper.elapsed() - start) / .milliseconds(1))
        return "\(milliseconds / 1000).\((milliseconds % 1000).padded(to: 3))"
    }

    /// `99990 done, 6 refused in 12.3 s (8129/s)`.
    var summary: String {
        let time = timekeeper.elapsed() - start
        return
            "\(tally.words(false, nil)) in \(time.measured) (\(Int(rate(tally.count(), time)))/s)"
    }

    /// `99990 done, 0 failed, 6 refused, 8129/s, 1m12s left`.
    private var line: String {
        let count = tally.count()
        let rate = rate(count, timekeeper.elapsed() - start)
        let expected = expected()
        // Others may add records meanwhile.
        let total = isTotal ? expected.map { max($0, count) } : nil
        var line = "\(tally.words(true, total)), \(Int(rate))/s"
        if let expected, rate > 0 {
            let open = max(expected - count, 0)
            let seconds = min((Double(open) / rate).rounded(.up), Self.longest)
            line += ", \(Duration.seconds(seconds).abbreviation) left"
        }
        return line
    }

    private func rate(_ count: Int, _ time: Duration) -> Double {
        Double(count) * 1000 / max(time / .milliseconds(1), 1)
    }

    /// The longest estimate shown: a year.
    private static let longest = 365 * 86_400.0
}

extension Progress.Tally {
    /// The results of a batch.
    static func results(_ output: BatchOutput) -> Self {
        Self(count: { output.counted.total }) { isRunning, total in
            let counted = output.counted
            return (total.map { "\(counted.total) of \($0): " } ?? "")
                + counted.named(always: isRunning ? .failed : .done)
        }
    }
}

/// The progress of a command over many records of a vault. On a terminal it ends with a summary.
final class RecordProgress: Sendable {
    private let counter = Counter()
    private let progress: Progress?
    private let console: Console

    private final class Counter: Sendable {
        struct Counts {
            var done = 0
            var searched = 0
        }

        private let state = Mutex(Counts())
        var counts: Counts { state.withLock { $0 } }

        func add(_ done: Int, _ searched: Int) {
            state.withLock {
                $0.done += done
                $0.searched += searched
            }
        }
    }

    /// What is counted.
    enum Subject {
        /// Records, whose total the database knows.
        case records
        /// Lines, whose total is an estimate.
        case lines
        /// Records that are selected among others: the total is that of the others.
        case search
    }

    /// - Parameters:
    ///   - deed: the description of the count: "records decrypted".
    ///   - output: where the command writes records; on a terminal, its lines would mix with the
    ///     progress.
    ///   - expected: returns the total; nil if unknown. Called only if it is shown.
    init(
        _ session: Session, _ deed: String, of subject: Subject = .records,
        output: RecordOutput = .none, expected: () throws -> (@Sendable () -> Int?)? = { nil }
    ) rethrows {
        console = session.console
        let world = session.world
        let isShown =
            !session.options.isQuiet && world.streams.progress != nil
            && (output != .standard || world.terminal.width == nil)
        guard isShown else {
            progress = nil
            return
        }
        let tally = Progress.Tally(count: { [counter] in counter.counts.searched }) {
            [counter] _, total in Self.words(counter.counts, deed, subject, total)
        }
        let number = try expected() ?? { nil }
        progress = Progress(
            tally, world, isQuiet: false, isTotal: subject != .lines, expected: number)
    }

    /// `500 of 1100 records decrypted`; `3 tokens were removed, 20000 of 1000000 searched`.
    private static func words(
        _ counts: Counter.Counts, _ deed: String, _ subject: Subject, _ total: Int?
    ) -> String {
        let outOf = total.map { " of \($0)" } ?? ""
        guard case .search = subject else { return "\(counts.done)\(outOf) \(deed)" }
        return "\(counts.done) \(deed), \(counts.searched)\(outOf) searched"
    }

    /// The destination of a command's records.
    enum RecordOutput { case none, standard, file }

    /// Adds to the count.
    ///
    /// - Parameter searched: how many records were looked at; nil for as many.
    func add(_ count: Int, searched: Int? = nil) {
        counter.add(count, searched ?? count)
        progress?.update()
    }

    // Clears the line before an error is shown.
    deinit { progress?.clear() }

    /// Shows the summary.
    func end() {
        guard let progress else { return }
        progress.clear()
        console.note(progress.summary)
    }
}

extension Session {
    /// Shows a line on a terminal while `body` runs, for slow work that cannot be counted.
    func showing<Result>(_ deed: String, _ body: () throws -> Result) rethrows -> Result {
        guard !options.isQuiet, let show = world.streams.progress else { return try body() }
        show(deed)
        defer { show("") }
        return try body()
    }
}

extension VaultStore {
    /// The most records that a filter may select.
    func expectedRecords(_ filter: VaultFilter = VaultFilter()) throws(StoreError) -> Int {
        try counts(of: filter.clientID).reduce(0) { sum, count in
            filter.states.isEmpty || filter.states.contains(count.key) ? sum + count.value : sum
        }
    }
}
