internal import SIWACommandTable

/// A member of a token, and the name of its column: `user_id=apple_sub`.
struct ColumnMapping: ParameterValue, Hashable {
    let member: String
    let column: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, ImportColumns.known.contains(String(parts[0]))
        else { return nil }
        (member, column) = (String(parts[0]), String(parts[1]))
    }

    static var expectation: String {
        "MEMBER=COLUMN with a member of \(ImportColumns.known.joined(separator: ", "))"
    }

    var argumentDescription: String { "\(member)=\(column)" }
}

/// What separates the fields of CSV: one character, or `tab`.
struct DelimiterArgument: ParameterValue, Hashable {
    let byte: UInt8

    init?(argument: String) {
        if ["tab", "\t", "\\t"].contains(argument) {
            byte = UInt8(ascii: "\t")
            return
        }
        guard let character = argument.first, argument.count == 1, !character.isLetter,
            !character.isNumber, character != "\"", let byte = character.asciiValue,
            (0x20..<0x7F).contains(byte)
        else { return nil }
        self.byte = byte
    }

    static var expectation: String { "one character such as ';', or tab" }

    var argumentDescription: String {
        byte == UInt8(ascii: "\t") ? "tab" : String(UnicodeScalar(byte))
    }
}
