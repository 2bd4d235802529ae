extension Parameter {
    /// `--name`, `-n`: true when given.
    package static func flag(
        _ name: String, short: Character? = nil,
        _ path: @autoclosure @escaping LazyPath<Root, Bool>, help: String
    ) -> Self {
        Self(.flag, name, short, .flag(path), value: nil, help, .none)
    }

    /// Combines the declaration and the requirements of the type to a row.
    init(
        _ kind: ParameterInfo.Kind, _ name: String, _ short: Character?,
        _ destination: Destination<Root>, value: String?, _ help: String,
        _ completion: CompletionKind
    ) {
        let type = destination.type
        info = ParameterInfo(
            kind: kind, name: name, short: short.map { String($0) }, valueName: value, help: help,
            arity: destination.arity, choices: type.choices, expectation: type.expectation,
            isSecret: type.isSecret, valuePrefixes: type.valuePrefixes, completion: completion)
        self.destination = destination
    }
}
