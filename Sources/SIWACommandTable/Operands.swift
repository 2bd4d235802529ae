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
