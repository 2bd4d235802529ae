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
