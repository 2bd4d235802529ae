/// Why a text is not the JSON that siwa accepts, and where.
package struct JSONError: Error, Hashable, Sendable {
    /// What is wrong.
    package enum Reason: Hashable, Sendable {
        /// A byte other than the value, comma or bracket that is required here.
        case unexpected
        /// The text ends inside a value.
        case ended
        /// A member that appears twice in one object.
        case duplicate(String)
        /// Bytes that are not UTF-8.
        case notUTF8
        /// An invalid escape, or half of a surrogate pair.
        case escape
        /// A control character inside a string.
        case controlCharacter
        /// An invalid number, such as `01` or `1.`
        case number
        /// Objects and arrays inside each other, deeper than 32.
        case depth
        /// Something after the value.
        case trailing
    }

    /// What is wrong.
    package let reason: Reason
    /// The byte offset where it was noticed.
    package let offset: Int
    /// The line where it was noticed, from 1.
    package let line: Int
}

extension JSONError: CustomStringConvertible {
    /// What is wrong and where; never quotes the text, except a duplicate member's name.
    package var description: String {
        if case .duplicate(let name) = reason {
            return "has the member '\(name)' twice (line \(line))"
        }
        return "\(reason.withoutQuoting) (line \(line))"
    }
}

extension JSONError.Reason {
    /// What is wrong, without any part of the text.
    package var withoutQuoting: String {
        switch self {
        case .unexpected: "is not JSON"
        case .ended: "ends in the middle"
        case .duplicate: "has a member twice"
        case .notUTF8: "is not UTF-8"
        case .escape: "has a broken escape in a string"
        case .controlCharacter: "has a control character in a string"
        case .number: "has a number that JSON does not know"
        case .depth: "is nested too deeply"
        case .trailing: "has something after its end"
        }
    }
}
