/// The property that receives the values of one parameter, and the requirements of its type.
///
/// The values arrive together, not one by one, so that typing a repeating option replaces its
/// default instead of adding to it.
struct Destination<Root>: Sendable {
    typealias Store =
        @Sendable (inout Root, [String]) throws(RefusedValue) -> StandardInputReads

    let arity: ParameterInfo.Arity
    let type: ValueType
    let store: Store
    var defaultValue: @Sendable (Root) -> String? = { _ in nil }

    func rerooted<NewRoot>(at path: Path<NewRoot, Root>) -> Destination<NewRoot> {
        Destination<NewRoot>(arity: arity, type: type) {
            (root, arguments) throws(RefusedValue) in
            try store(&root[keyPath: path], arguments)
        } defaultValue: {
            defaultValue($0[keyPath: path])
        }
    }
}

/// The number of stored values that will be read from standard input, which can be read only once.
typealias StandardInputReads = Int

/// An argument that the type of its parameter does not accept.
struct RefusedValue: Error, CustomStringConvertible {
    let argument: String

    /// Without the value, which may be a secret.
    var description: String { "a parameter does not accept its value" }
}

/// The requirements of a type for its values.
struct ValueType: Sendable {
    var choices: [String] = []
    var expectation = ""
    var isSecret = false
    var valuePrefixes: [String] = []

    /// The type of a flag, which has no value.
    static let none = Self()

    static func of<T: ParameterValue>(_: T.Type) -> Self {
        Self(
            choices: T.choices, expectation: T.expectation, isSecret: T.isSecret,
            valuePrefixes: T.valuePrefixes)
    }
}

extension Destination {
    static func flag(_ path: @escaping LazyPath<Root, Bool>) -> Self {
        Self(arity: .optional, type: .none) { root, _ in
            root[keyPath: path()] = true
            return 0
        }
    }

    static func defaulted<T: ParameterValue>(_ path: @escaping LazyPath<Root, T>) -> Self {
        Self(arity: .defaulted, type: .of(T.self)) { (root, arguments) throws(RefusedValue) in
            try eachValue(of: arguments) { root[keyPath: path()] = $0 }
        } defaultValue: {
            T.isSecret ? nil : $0[keyPath: path()].argumentDescription
        }
    }

    static func optional<T: ParameterValue>(_ path: @escaping LazyPath<Root, T?>) -> Self {
        Self(arity: .optional, type: .of(T.self)) { (root, arguments) throws(RefusedValue) in
            try eachValue(of: arguments) { root[keyPath: path()] = $0 }
        }
    }

    static func required<T: ParameterValue>(_ path: @escaping LazyPath<Root, Required<T>>) -> Self {
        Self(arity: .required, type: .of(T.self)) { (root, arguments) throws(RefusedValue) in
            try eachValue(of: arguments) { root[keyPath: path()].wrappedValue = $0 }
        }
    }

    static func repeating<T: ParameterValue>(_ path: @escaping LazyPath<Root, [T]>) -> Self {
        Self(arity: .repeating, type: .of(T.self)) { (root, arguments) throws(RefusedValue) in
            var values: [T] = []
            let reads = try eachValue(of: arguments) { values.append($0) }
            root[keyPath: path()] = values
            return reads
        } defaultValue: {
            T.isSecret
                ? nil : $0[keyPath: path()].map(\.argumentDescription).joined(separator: ", ")
        }
    }
}

/// Passes on every argument as a value, and counts those that mean standard input.
private func eachValue<T: ParameterValue>(
    of arguments: [String], _ keep: (T) -> Void
) throws(RefusedValue) -> StandardInputReads {
    var reads = 0
    for argument in arguments {
        guard let value = T(argument: argument) else { throw RefusedValue(argument: argument) }
        if value.readsStandardInput { reads += 1 }
        keep(value)
    }
    return reads
}
