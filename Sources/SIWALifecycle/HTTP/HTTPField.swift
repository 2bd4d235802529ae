/// One header field (RFC 9110 §5).
package struct HTTPField: Hashable, Sendable {
    /// The name; its case is not significant.
    package let name: String
    /// The value as sent or received.
    package let value: String

    /// Pairs a name with a value.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether its name is `name`, ignoring the case of ASCII letters.
    package func isNamed(_ name: String) -> Bool {
        // Compares the lengths first: most names differ in them.
        self.name.utf8.count == name.utf8.count
            && self.name.utf8.span.isEqualIgnoringCase(name.utf8.span)
    }
}

extension Span<UInt8> {
    /// Whether the bytes are equal; ASCII letters may differ in their case.
    func isEqualIgnoringCase(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index].inLowerCase != other[index].inLowerCase {
            return false
        }
        return true
    }
}

extension UInt8 {
    /// The byte with ASCII capital letters converted to lower case.
    fileprivate var inLowerCase: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

extension [HTTPField] {
    /// The value of the first field called `name`, ignoring case; nil if absent.
    package subscript(name: String) -> String? { firstIndex(named: name).map { self[$0].value } }

    /// The value of the field called `name`, ignoring case; nil if absent or repeated.
    package func only(_ name: String) -> String? {
        guard let index = firstIndex(named: name),
            firstIndex(named: name, from: index + 1) == nil
        else { return nil }
        return self[index].value
    }

    /// The value of a list, which may be spread over several fields (RFC 9110 §5.3);
    /// nil if absent.
    package func list(_ name: String) -> String? {
        guard var index = firstIndex(named: name) else { return nil }
        var list = self[index].value
        while let next = firstIndex(named: name, from: index + 1) {
            list += "," + self[next].value
            index = next
        }
        return list
    }

    private func firstIndex(named name: String, from start: Int = 0) -> Int? {
        // Compares the fields in place: copying one takes longer than comparing it.
        let fields = span
        for index in start..<fields.count where fields[index].isNamed(name) { return index }
        return nil
    }
}
