internal import SIWAJOSE

/// What is read can be written and read again, and no object has a member twice.
func checkJSON(_ input: [UInt8]) throws(Violation) {
    let value: JSON
    do {
        value = try JSON(input)
    } catch {
        try demand((0...input.count).contains(error.offset), "an error's offset is inside the text")
        let lines = 1 + input.count { $0 == 0x0A }
        try demand((1...lines).contains(error.line), "the line of an error is a line of the text")
        return
    }
    try demand(value.hasUniqueNames, "no object has a member twice")
    try checkWriting(value)
    if let text = try? JSONText(input), text.isPlain {
        let spaces: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
        let trimmed = input.drop { spaces.contains($0) }.reversed().drop { spaces.contains($0) }
        try demand(Array(trimmed.reversed()) == value.bytes, "a plain text is what is written")
    }
}

/// A value reads as it was written, in both forms. Bytes are compared, because to Swift some
/// different texts are equal.
func checkWriting(_ value: JSON) throws(Violation) {
    let bytes = value.bytes
    try demand((try? JSON(bytes))?.bytes == bytes, "what is written reads as it was")
    let indented = try? JSON(text: value.indentedText)
    try demand(indented?.bytes == bytes, "indentation changes nothing")
    try demand(!bytes.contains { $0 < 0x20 || $0 == 0x7F }, "control characters are escaped")
}

extension JSON {
    fileprivate var hasUniqueNames: Bool {
        switch self {
        case .array(let elements): elements.allSatisfy(\.hasUniqueNames)
        case .object(let members):
            Set(members.map { Array($0.name.utf8) }).count == members.count
                && members.allSatisfy(\.value.hasUniqueNames)
        default: true
        }
    }
}
