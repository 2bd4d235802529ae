internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// A command's result, in the two forms it can leave in.
struct Report: Sendable {
    /// All of it, for machines.
    let json: JSON
    /// What is printed unless `--json` or `--print` ask otherwise; nil prints the JSON.
    let text: SecretText?
    let deed: Deed?

    init(_ json: JSON, text: SecretText? = nil, of deed: Deed? = nil) {
        self.json = json
        self.text = text
        self.deed = deed
    }
}

/// What a command did, for the case that its result cannot be delivered.
struct Deed: Sendable {
    let words: String
    let hint: String

    init(_ words: String, hint: String) { (self.words, self.hint) = (words, hint) }
}

extension Deed {
    static func revocation(isDone: Bool) -> Deed { Deed("", hint: "") }
}

extension World {
    /// Prints the result: one member, the JSON, or the text.
    func report(_ report: Report, _ options: GlobalOptions) throws {
        if let member = options.print {
            try print(try member.value(in: report.json))
        } else if let text = report.text, !options.json {
            try print(text)
        } else {
            try print(SecretText(report.json.indentedText))
        }
    }

    private func print(_ text: SecretText) throws {
        var line = SecretBuffer(capacity: text.bytes.count + 1)
        text.bytes.withSpan { line.append(contentsOf: $0) }
        line.append(0x0A)
        try output(line.finished())
    }
}

extension GlobalOptions {
    /// Refuses `--print` of a member that the result cannot have, before anything is done
    /// that cannot be undone.
    func checkPrinted(among members: [String]) throws(AbsentMember) {
        guard let print, !members.contains(print) else { return }
        throw AbsentMember(name: print, present: members)
    }
}

/// `--print` names a member that the result does not have.
struct AbsentMember: Error, Sendable {
    let name: String
    let present: [String]
}

extension String {
    /// The member of this name, raw: a text without quotes.
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

/// A text as ``Report`` takes it, which ends every text with a line end.
func withoutLineEnd(_ text: String) -> String {
    text.hasSuffix("\n") ? String(text.dropLast()) : text
}
