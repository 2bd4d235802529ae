internal import CommandTable
internal import JOSE
internal import Lifecycle
internal import LocalFiles
internal import SIWACrypto

/// A command's result, as text and as JSON.
struct Report: Sendable {
    /// The complete result, for machines.
    let json: JSON
    /// The text that is printed without `--json` and `--print`; nil prints the JSON.
    let text: SecretText?
    /// What the command changed; nil if it only shows something. A command that changed something
    /// fails if standard output is closed before the result is written.
    let deed: Deed?

    init(_ json: JSON, text: SecretText? = nil, of deed: Deed? = nil) {
        self.json = json
        self.text = text
        self.deed = deed
    }
}

/// A change that a command made, for the error if its result cannot be printed.
struct Deed: Sendable {
    /// What was done, as a sentence without a full stop.
    let words: String
    /// What to do next.
    let hint: String

    init(_ words: String, hint: String) { (self.words, self.hint) = (words, hint) }
}

extension World {
    /// Prints the result: one member, the JSON, or the text.
    func report(_ report: Report, _ options: GlobalOptions) throws {
        let text =
            if let member = options.print {
                try member.value(in: report.json)
            } else if let text = report.text, !options.json {
                text
            } else {
                SecretText(report.json.indentedText)
            }
        var line = SecretBuffer(capacity: text.bytes.count + 1)
        text.bytes.withSpan { line.append(contentsOf: $0) }
        line.append(0x0A)
        try deliver(line.finished(), of: report.deed)
    }

    /// Writes a result to standard output.
    ///
    /// A closed pipe, as with `head`, is not an error if the result only shows something: the exit
    /// code is then unchanged.
    ///
    /// - Throws: ``UndeliveredResult``.
    func deliver(_ result: SecretBytes, of deed: Deed?) throws(UndeliveredResult) {
        do {
            try output(result)
        } catch {
            guard deed == nil, error.isClosedPipe else {
                throw UndeliveredResult(error, after: deed)
            }
        }
    }
}

/// The result could not be written, or standard output was closed.
struct UndeliveredResult: DiagnosableError {
    let reason: FileError
    /// What was done before; nil if nothing was done.
    let deed: Deed?

    init(_ reason: FileError, after deed: Deed?) { (self.reason, self.deed) = (reason, deed) }

    var diagnosis: Diagnosis {
        let reason =
            reason.isClosedPipe ? "standard output is closed" : reason.description
        return Diagnosis(
            "not_delivered", (deed.map { "\($0.words), but " } ?? "") + reason,
            hints: [deed?.hint ?? "fix standard output, then run it again"],
            exitCode: .notDelivered)
    }
}

extension GlobalOptions {
    /// Refuses `--print` of a member that the result cannot have, before anything is changed.
    func checkPrinted(among members: [String]) throws(AbsentMember) {
        guard let print, !members.contains(print) else { return }
        throw AbsentMember(name: print, present: members)
    }
}

/// `--print` names a member that the result does not have.
struct AbsentMember: DiagnosableError {
    let name: String
    let present: [String]
    /// Whether the complete result was printed instead.
    var isAllPrinted = false

    var diagnosis: Diagnosis {
        .negative(
            "absent_member",
            "the result has no member '\(printable(name))'"
                + (isAllPrinted ? "; all of it was printed, because the code is spent" : ""),
            hints: didYouMean(suggestions(for: name, among: present))
                + ["it has: \(present.joined(separator: ", "))"])
    }
}

extension String {
    /// The value of the member with this name; a string without quotation marks.
    fileprivate func value(in json: JSON) throws(AbsentMember) -> SecretText {
        switch json[self] {
        case nil, .null:
            throw AbsentMember(
                name: self, present: (json.members ?? []).filter { $0.value != .null }.map(\.name))
        case .string(let text): SecretText(text)
        case let value?: SecretText(value.text)
        }
    }
}
