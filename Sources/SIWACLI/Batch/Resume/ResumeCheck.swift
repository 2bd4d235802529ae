internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// Compares the results of an earlier run with the input, line by line, before anything is sent: a
/// different input must be detected.
struct ResumeCheck: Sendable {
    private let results: EarlierResults
    /// The output's path, for messages.
    private let output: String
    private let identify: ItemReading<any NumberedItem>
    /// Where lines without a result are kept; nil when the input can be read again.
    private let spool: (any LineSpool)?
    private(set) var resumed: ResumedInput
    private var last = 0

    /// - Parameters:
    ///   - identify: reads an item.
    ///   - spool: keeps the lines without a result; nil when the input can be read again.
    init(
        _ results: EarlierResults, in output: String, ids: SeenIDs,
        keepingIn spool: (any LineSpool)?,
        identify: @escaping ItemReading<any NumberedItem>
    ) {
        (self.results, self.output, self.identify) = (results, output, identify)
        self.spool = spool
        resumed = ResumedInput(ids: ids)
    }

    /// Whether the last line with a result was compared.
    var isComplete: Bool { last >= results.lastLine }

    /// Compares the next lines of the input; those after the last one with a result are kept in
    /// any case.
    ///
    /// - Throws: ``ResumeMismatch``, ``FileError``.
    mutating func take(_ lines: [InputLine]) throws {
        for line in lines {
            let result =
                line.number <= results.lastLine ? try results.result(of: line.number) : nil
            if let result {
                try compare(line, result)
            } else {
                try spool?.append(line)
            }
            last = line.number
        }
    }

    /// Takes the end of the input.
    ///
    /// - Throws: ``ResumeMismatch`` when a result's line is missing.
    func end() throws(ResumeMismatch) {
        guard isComplete else {
            throw ResumeMismatch(.beyondEnd(of: last), line: results.lastLine, in: output)
        }
    }

    /// Compares the client of a result with the item's own one, else with the run's.
    private func difference(
        _ result: ItemIdentity, _ item: any NumberedItem
    ) -> OriginDifference? {
        guard let origin = results.origin else { return nil }
        let (found, expected) = (
            results.clients.name(result.client), item.clientID ?? origin.clientID
        )
        return found == expected.rawValue
            ? nil : OriginDifference(member: "client_id", result: found, run: expected.rawValue)
    }

    private mutating func compare(_ line: InputLine, _ result: EarlierResult) throws {
        let item = try? line.item(identify)
        let identity = item.map { ItemIdentity(id: $0.id, fingerprint: $0.fingerprint) }
        guard result.isResult(of: identity) else {
            throw ResumeMismatch(.different, line: line.number, in: output)
        }
        if case .item(let result) = result, let item, let difference = difference(result, item) {
            throw ResumeMismatch(.otherOrigin(difference), line: line.number, in: output)
        }
        if let item { resumed.shapes.note(item.isUnusual) }
        guard spool != nil else { return resumed.done.insert(line.number) }
        // The id of an invalid line may be that of an earlier item which is not done yet.
        if case .item = result, let id = item?.id { _ = try resumed.ids.insert(id) }
    }
}

/// Where a resumed run continues.
struct ResumedInput: Sendable {
    /// The lines to skip when the input is read again.
    var done = DoneLines()
    /// The ids of the lines that are not read again.
    var ids: SeenIDs
    /// The shapes of the items with a result.
    var shapes = TokenShapes()
}

/// A result in the output is not of its line in the input.
struct ResumeMismatch: DiagnosableError {
    enum Reason: Sendable {
        /// The line is another item, or not an item.
        case different
        /// The input has fewer lines.
        case beyondEnd(of: Int)
        /// The output has two results of different items.
        case contradictory
        /// The result is of another client, server or team.
        case otherOrigin(OriginDifference)
    }

    let reason: Reason
    /// The line of the input.
    let line: Int
    let output: String

    init(_ reason: Reason, line: Int, in output: String) {
        (self.reason, self.line, self.output) = (reason, line, output)
    }

    var diagnosis: Diagnosis {
        let message =
            switch reason {
            case .different:
                "line \(line) of the input is not the item of its result in '\(output)'"
            case .beyondEnd(let lines):
                "'\(output)' has a result for line \(line), but the input has \(lines) lines"
            case .contradictory:
                "'\(output)' has results of two different items for line \(line)"
            case .otherOrigin(let difference):
                "the result for line \(line) in '\(output)' "
                    + (difference.result.map { "has \(difference.member) \($0)" }
                        ?? "names no \(difference.member)")
                    + ", and this run has \(difference.run ?? "none")"
            }
        return Diagnosis(.otherInput, message, hints: hints, exitCode: .usage)
    }

    private var hints: [String] {
        if case .otherOrigin = reason {
            return [
                "to continue the earlier run, use its settings: --profile, --client-id, "
                    + "--base-url, --to-team",
                "to begin with these settings, name a new output file and leave out --resume",
            ]
        }
        return [
            "to continue the earlier run, give the input of that run",
            "to begin with another input, name a new output file and leave out --resume",
        ]
    }
}
