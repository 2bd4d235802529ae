/// One header field (RFC 9110 §5).
package struct HTTPField: Hashable, Sendable {
    /// The name; compare it without regard to case.
    package let name: String
    /// The value.
    package let value: String

    /// Pairs a name with a value.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [HTTPField] {
    /// The value of the first field called `name`, ignoring case.
    package subscript(name: String) -> String? {
        first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
