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

/// `--name VALUE`, one overload for each type a property can have.
extension Parameter {
    /// An option with a default: the value the property has in a fresh `Root`.
    package static func option<T: ParameterValue>(
        _ name: String, short: Character? = nil, _ path: @autoclosure @escaping LazyPath<Root, T>,
        value: String,
        help: String, completion: CompletionKind = .none
    ) -> Self {
        Self(.option, name, short, .defaulted(path), value: value, help, completion)
    }

    /// An option that may be absent.
    package static func option<T: ParameterValue>(
        _ name: String, short: Character? = nil, _ path: @autoclosure @escaping LazyPath<Root, T?>,
        value: String,
        help: String, completion: CompletionKind = .none
    ) -> Self {
        Self(.option, name, short, .optional(path), value: value, help, completion)
    }

    /// An option that repeats; what is typed replaces the default.
    package static func option<T: ParameterValue>(
        _ name: String, short: Character? = nil, _ path: @autoclosure @escaping LazyPath<Root, [T]>,
        value: String,
        help: String, completion: CompletionKind = .none
    ) -> Self {
        Self(.option, name, short, .repeating(path), value: value, help, completion)
    }

    /// An option that must be given; its path is that of the projection, `\.$name`.
    package static func option<T: ParameterValue>(
        _ name: String, short: Character? = nil,
        _ path: @autoclosure @escaping LazyPath<Root, Required<T>>, value: String,
        help: String, completion: CompletionKind = .none
    ) -> Self {
        Self(.option, name, short, .required(path), value: value, help, completion)
    }
}

/// Values known by their place, one overload for each type a property can have.
extension Parameter {
    /// An operand with a default: the value the property has in a fresh `Root`.
    package static func operand<T: ParameterValue>(
        _ name: String, _ path: @autoclosure @escaping LazyPath<Root, T>, help: String,
        completion: CompletionKind = .none
    ) -> Self {
        Self(.operand, name, nil, .defaulted(path), value: nil, help, completion)
    }

    /// An operand that may be absent.
    package static func operand<T: ParameterValue>(
        _ name: String, _ path: @autoclosure @escaping LazyPath<Root, T?>, help: String,
        completion: CompletionKind = .none
    ) -> Self {
        Self(.operand, name, nil, .optional(path), value: nil, help, completion)
    }

    /// An operand that takes all remaining ones.
    package static func operand<T: ParameterValue>(
        _ name: String, _ path: @autoclosure @escaping LazyPath<Root, [T]>, help: String,
        completion: CompletionKind = .none
    ) -> Self {
        Self(.operand, name, nil, .repeating(path), value: nil, help, completion)
    }

    /// An operand that must be given; its path is that of the projection, `\.$name`.
    package static func operand<T: ParameterValue>(
        _ name: String, _ path: @autoclosure @escaping LazyPath<Root, Required<T>>, help: String,
        completion: CompletionKind = .none
    ) -> Self {
        Self(.operand, name, nil, .required(path), value: nil, help, completion)
    }
}
