/// Splits arguments into tokens, by the known flags and options.
///
/// The first fault is kept, not thrown, and reading continues, because a later `--help` takes
/// precedence.
struct Lexer {
    private(set) var rest: ArraySlice<String>
    private(set) var tokens: [Token] = []
    private(set) var fault: UsageError.Problem?

    /// The operands among the tokens.
    var operands: [String] {
        tokens.compactMap { token in
            if case .operand(let word) = token { word } else { nil }
        }
    }

    private let beforeCommand: Bool
    private let flags: [ParameterInfo]
    private let takesOperands: Bool

    init(_ arguments: ArraySlice<String>, flags: [ParameterInfo], beforeCommand: Bool = false) {
        rest = arguments
        self.flags = (flags + BuiltIn.flags).filter { $0.kind != .operand }
        self.beforeCommand = beforeCommand
        takesOperands = flags.contains { $0.kind == .operand }
    }

    /// Reads everything.
    mutating func readAll() {
        readFlags()
        while let word = rest.popFirst() {
            if word == "--" {
                tokens += rest.map(Token.operand)
                rest = []
            } else {
                tokens.append(.operand(word))
                readFlags()
            }
        }
    }

    /// Reads up to the first operand or `--`.
    mutating func readFlags() {
        while let argument = rest.first, argument.isFlagLike {
            rest.removeFirst()
            if argument.utf8.starts(with: "--".utf8) {
                readLong(argument)
            } else {
                readLetters(argument)
            }
        }
    }

    /// `--name` or `--name=value`.
    private mutating func readLong(_ argument: String) {
        let body = argument.utf8.dropFirst(2)
        let equals = body.firstIndex(of: UInt8(ascii: "="))
        let name = String(argument[body.startIndex..<(equals ?? body.endIndex)])
        let attached = equals.map { String(argument[body.index(after: $0)...]) }
        if let info = flag(named: name) {
            read(info, as: "--\(name)", attached: attached)
        } else if fault == nil {  // suggestions take time
            fail(unknownFlag("--\(name)", meant: suggestions(for: name, among: flags.map(\.name))))
        }
    }

    /// `-v`, `-vq`, `-kVALUE` or `-k VALUE`.
    private mutating func readLetters(_ argument: String) {
        var letters = argument.unicodeScalars.dropFirst()
        while let letter = letters.popFirst() {
            let short = String(letter)
            guard let info = flags.first(where: { $0.short == short }) else {
                let wholeWord = String(argument.unicodeScalars.dropFirst())
                let meant = flag(named: wholeWord) == nil ? [] : [wholeWord]
                return fail(unknownFlag("-\(letter)", meant: meant))
            }
            let takesTheRest = info.kind == .option && !letters.isEmpty
            read(info, as: "-\(letter)", attached: takesTheRest ? String(letters) : nil)
            if takesTheRest { return }
        }
    }

    private mutating func read(_ info: ParameterInfo, as spelling: String, attached: String?) {
        switch (info.kind, attached) {
        case (.option, let value?): tokens.append(.option(info.name, value))
        case (.option, nil): readValue(of: info, as: spelling)
        case (_, nil): tokens.append(.flag(info.name))
        case (_, _?): fail(.unexpectedValue(flag: spelling))
        }
    }

    private mutating func readValue(of info: ParameterInfo, as spelling: String) {
        let next = rest.first
        if !info.valuePrefixes.isEmpty,
            !info.valuePrefixes.contains(where: next?.hasPrefix ?? { _ in false })
        {
            return tokens.append(.option(info.name, ""))
        }
        let looksLikeFlag = next.map { $0.isFlagLike || $0 == "--" } ?? false
        guard let next, !looksLikeFlag else {
            return fail(.missingValue(option: spelling, followedByFlag: looksLikeFlag))
        }
        rest.removeFirst()
        tokens.append(.option(info.name, next))
    }

    private func flag(named name: String) -> ParameterInfo? {
        flags.first { $0.name == name }
    }

    private func unknownFlag(_ spelling: String, meant: [String]) -> UsageError.Problem {
        .unknownFlag(
            typed: quotedName(spelling), suggestions: meant.map { "--\($0)" },
            beforeCommand: beforeCommand, mayBeOperand: takesOperands && meant.isEmpty)
    }

    private mutating func fail(_ problem: UsageError.Problem) {
        fault = fault ?? problem
    }
}
