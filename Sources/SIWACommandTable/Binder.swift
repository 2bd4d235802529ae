/// Fills a command's properties with what was typed.
struct Binder<C: Command> {
    private let parameters: [Parameter<C>]
    /// The parameters as data, copied once.
    private let infos: [ParameterInfo]
    /// The values typed for each parameter; empty if it was not given. A flag has one empty value.
    private var given: [[String]]

    /// The command that `tokens` describe.
    static func bind(
        _ tokens: [Token], to parameters: [Parameter<C>], _ infos: [ParameterInfo]
    ) throws(UsageError.Problem) -> C {
        var binder = Self(
            parameters: parameters, infos: infos,
            given: Array(repeating: [], count: infos.count))
        try binder.gather(tokens)
        try binder.checkRepetition()
        let command = try binder.command()
        try binder.checkMissing()
        return command
    }

    /// Sorts the values by the parameter they belong to.
    private mutating func gather(_ tokens: [Token]) throws(UsageError.Problem) {
        var operands = infos.filter { $0.kind == .operand }[...]
        for token in tokens {
            switch token {
            case .flag(let name): change(name) { $0 = [""] }
            case .option(let name, let value): change(name) { $0.append(value) }
            case .operand(let value):
                guard let operand = operands.first else {
                    throw valueTakenForOperand(in: tokens) ?? unexpected(value)
                }
                change(operand.name) { $0.append(value) }
                if !operand.repeats { operands.removeFirst() }
            }
        }
    }

    private mutating func change(_ name: String, _ body: (inout [String]) -> Void) {
        if let index = infos.firstIndex(where: { $0.name == name }) { body(&given[index]) }
    }

    /// The error for a surplus operand, which is shown only if it could be meant as a name: it may
    /// be a piece of a key or a token that the shell has split.
    private func unexpected(_ value: String) -> UsageError.Problem {
        .unexpectedOperand(
            typed: takesSecrets || value.utf8.count > 20 ? nil : quotedName(value),
            option: optionForSecret(value)?.label)
    }

    /// The option of a command without operands that takes a token or a code, which was typed
    /// without it. Codes begin with `c`, tokens with other letters.
    private func optionForSecret(_ value: String) -> ParameterInfo? {
        guard !infos.contains(where: { $0.kind == .operand }) else { return nil }
        let names = value.hasPrefix("c") ? ["code", "token"] : ["token", "code"]
        let takers = names.compactMap { name in infos.firstIndex { $0.name == name } }
        guard takers.allSatisfy({ given[$0].isEmpty }) else { return nil }
        return takers.first.map { infos[$0] }
    }

    /// An operand after an option with an optional value that does not accept it was probably meant
    /// as the option's value.
    private func valueTakenForOperand(in tokens: [Token]) -> UsageError.Problem? {
        for case (.option(let name, ""), .operand(let value)) in zip(tokens, tokens.dropFirst()) {
            let info = infos.first { $0.name == name && !$0.valuePrefixes.isEmpty }
            if let info { return refusal(of: value, by: info) }
        }
        return nil
    }

    private var takesSecrets: Bool { infos.contains(where: \.isSecret) }

    /// Refuses a repeated option: silently using the last value would hide a mistake in a runbook.
    private func checkRepetition() throws(UsageError.Problem) {
        for (info, values) in zip(infos, given) where values.count > 1 && !info.repeats {
            throw .repeated(option: info.label)
        }
    }

    private func command() throws(UsageError.Problem) -> C {
        var command = C()
        var readers: [String] = []
        for (index, info) in infos.enumerated() where !given[index].isEmpty {
            do throws(RefusedValue) {
                let reads = try parameters[index].destination.store(&command, given[index])
                readers += Array(repeating: info.label, count: reads)
            } catch {
                throw refusal(of: error.argument, by: info)
            }
        }
        guard readers.count < 2 else { throw .standardInputShared(parameters: readers) }
        return command
    }

    /// The error for an invalid value. A command that takes secrets does not show long values,
    /// because they may be tokens.
    private func refusal(of argument: String, by info: ParameterInfo) -> UsageError.Problem {
        let isDoubtful = info.isSecret || (takesSecrets && argument.utf8.count > 32)
        return .refusedValue(
            parameter: info.label, typed: isDoubtful ? nil : quoted(argument),
            expectation: info.expectation,
            suggestions: suggestions(for: argument, among: info.choices))
    }

    private func checkMissing() throws(UsageError.Problem) {
        let missing = zip(infos, given).filter { $0.isRequired && $1.isEmpty }
        if !missing.isEmpty { throw .missingParameters(missing.map(\.0.usage)) }
    }
}
