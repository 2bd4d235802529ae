/// Fills a command's properties with what was typed.
struct Binder<C: Command> {
    private let parameters: [Parameter<C>]
    private var given: [String: [String]] = [:]

    /// The command that `tokens` describe.
    static func bind(
        _ tokens: [Token], to parameters: [Parameter<C>]
    ) throws(UsageError.Problem) -> C {
        var binder = Self(parameters: parameters)
        try binder.gather(tokens)
        try binder.checkRepetition()
        let command = try binder.command()
        try binder.checkMissing()
        return command
    }

    /// Sorts the values by the parameter they belong to.
    private mutating func gather(_ tokens: [Token]) throws(UsageError.Problem) {
        var operands = parameters.compactMap { $0.info.kind == .operand ? $0.info : nil }[...]
        for token in tokens {
            switch token {
            case .flag(let name): given[name] = [""]
            case .option(let name, let value): given[name, default: []].append(value)
            case .operand(let value):
                guard let operand = operands.first else { throw unexpected(value) }
                given[operand.name, default: []].append(value)
                if !operand.repeats { operands.removeFirst() }
            }
        }
    }

    /// One value too many; shown only if it could be meant as a name. What a shell split from
    /// the text of a key or a token ends up here, and pieces of it are long.
    private func unexpected(_ value: String) -> UsageError.Problem {
        .unexpectedOperand(typed: takesSecrets || value.utf8.count > 20 ? nil : quotedName(value))
    }

    private var takesSecrets: Bool { parameters.contains { $0.info.isSecret } }

    /// The last one of two would win silently, and hide a mistake in a runbook.
    private func checkRepetition() throws(UsageError.Problem) {
        for parameter in parameters {
            if let values = given[parameter.info.name], values.count > 1, !parameter.info.repeats {
                throw .repeated(option: parameter.info.label)
            }
        }
    }

    private func command() throws(UsageError.Problem) -> C {
        var command = C()
        var readers: [String] = []
        for parameter in parameters {
            guard let values = given[parameter.info.name] else { continue }
            do throws(RefusedValue) {
                let reads = try parameter.destination.store(&command, values)
                readers += Array(repeating: parameter.info.label, count: reads)
            } catch {
                throw refusal(of: error.argument, by: parameter.info)
            }
        }
        guard readers.count < 2 else { throw .standardInputShared(parameters: readers) }
        return command
    }

    /// Long values are not shown by a command that takes secrets: a token in the wrong place.
    private func refusal(of argument: String, by info: ParameterInfo) -> UsageError.Problem {
        let isDoubtful = info.isSecret || (takesSecrets && argument.utf8.count > 32)
        return .refusedValue(
            parameter: info.label, typed: isDoubtful ? nil : quoted(argument),
            expectation: info.expectation,
            suggestions: suggestions(for: argument, among: info.choices))
    }

    private func checkMissing() throws(UsageError.Problem) {
        let missing = parameters.map(\.info).filter { $0.isRequired && given[$0.name] == nil }
        if !missing.isEmpty { throw .missingParameters(missing.map(\.usage)) }
    }
}
