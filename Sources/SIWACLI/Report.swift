internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

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

extension World {
    /// Prints the result: one member, the JSON, or the text.
    func report(_ report: Report, _ options: OutputOptions) throws {
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
}

extension Session {
    /// Prints the command's result.
    func report(_ report: Report) throws { try world.report(report, options) }
}

extension OutputOptions {
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
            .absentMember,
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
