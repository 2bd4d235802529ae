/// A property without a default; the parser guarantees that it is given.
///
/// Declare `@Required var token: SecretArgument` and store through the projection, `\.$token`. A
/// write through a key path to a computed property reads it first, so `\.token` would trap because
/// the value is not set yet. Reading the projection is safe.
@propertyWrapper
package struct Required<T: Sendable>: Sendable {
    private var value: T?

    /// Not given yet.
    package init() {}

    /// The value; traps if it is read before parsing, which is a defect of the program.
    package var wrappedValue: T {
        get {
            guard let value else { preconditionFailure("a required parameter was read too early") }
            return value
        }
        set { value = newValue }
    }

    /// The wrapper itself, in which the parser stores the value.
    package var projectedValue: Self {
        get { self }
        set { self = newValue }
    }
}
