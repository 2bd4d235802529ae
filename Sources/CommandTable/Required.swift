/// A property that has no default: the parser guarantees that it was given.
///
/// Declare `@Required var token: SecretArgument` and store through the projection, `\.$token`. A
/// write through a key path to a computed property reads it first; `\.token` would therefore trap
/// on the value that is not there yet, while reading the projection is harmless.
@propertyWrapper
package struct Required<T: Sendable>: Sendable {
    private var value: T?

    /// Not given yet.
    package init() {}

    /// What was given; reading it before parsing is a defect in the program, and traps.
    package var wrappedValue: T {
        get {
            guard let value else { preconditionFailure("a required parameter was read too early") }
            return value
        }
        set { value = newValue }
    }

    /// The wrapper itself: where the parser stores.
    package var projectedValue: Self {
        get { self }
        set { self = newValue }
    }
}
