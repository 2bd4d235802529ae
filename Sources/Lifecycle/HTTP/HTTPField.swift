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

    /// Whether it is called `name`, ignoring the case of ASCII letters.
    package func isNamed(_ name: String) -> Bool {
        // The lengths first: they tell most names apart.
        guard self.name.utf8.count == name.utf8.count else { return false }
        let (own, other) = (self.name.utf8.span, name.utf8.span)
        for index in own.indices where own[index].inLowerCase != other[index].inLowerCase {
            return false
        }
        return true
    }
}

extension UInt8 {
    /// The lower-case letter of an ASCII capital letter; any other byte as it is.
    fileprivate var inLowerCase: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

extension [HTTPField] {
    /// The value of the first field called `name`, ignoring case.
    package subscript(name: String) -> String? {
        // Looked at where they are: copying a field takes longer than comparing it.
        let fields = span
        for index in fields.indices where fields[index].isNamed(name) { return fields[index].value }
        return nil
    }

    /// The value of the field called `name`, ignoring case; nil if absent or repeated.
    package func only(_ name: String) -> String? {
        let fields = span
        var found: Int?
        for index in fields.indices where fields[index].isNamed(name) {
            guard found == nil else { return nil }
            found = index
        }
        return found.map { fields[$0].value }
    }

    /// The value of a list, which may be spread over several fields (RFC 9110 §5.3);
    /// nil if absent.
    package func list(_ name: String) -> String? {
        let fields = span
        var list: String?
        for index in fields.indices where fields[index].isNamed(name) {
            list = list.map { $0 + "," + fields[index].value } ?? fields[index].value
        }
        return list
    }
}
