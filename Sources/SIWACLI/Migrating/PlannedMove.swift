internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The member of an import's result that the application has stored.
enum MatchedMember: String, CaseIterable, ParameterValue {
    case oldUserID = "old_user_id"
    case transferID = "transfer_id"
}

/// The id that replaces another one in the application's database, and the new address.
struct PlannedMove: Hashable, Sendable {
    let oldID: String
    let newID: String
    let address: String?
}

extension PlannedMove {
    /// Reads a result of `siwa migrate import`; nil if its status is not `done`.
    ///
    /// - Throws: ``InvalidLine``.
    init?(importResult text: SecretBytes, matching member: MatchedMember) throws(InvalidLine) {
        let line = try ItemLine(text)
        guard let object = line.object else {
            throw InvalidLine(nil, "the line is not a JSON object")
        }
        guard try line.text("status") == "done" else { return nil }
        try line.checkImported()
        guard let old = try line.text(member.rawValue), let new = try line.text("user_id") else {
            let name = object["user_id"]?.string == nil ? "user_id" : member.rawValue
            throw InvalidLine(nil, "the line has no member '\(name)'")
        }
        oldID = try Self.checked(old, member.rawValue)
        newID = try Self.checked(new, "user_id")
        address = try line.text("email").map { (text) throws(InvalidLine) in
            try Self.checked(text, "email")
        }
    }

    /// A text of which a script consists has no characters with a meaning in SQL.
    private static func checked(_ text: String, _ name: String) throws(InvalidLine) -> String {
        let isSafe = text.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "+"), UInt8(ascii: "@"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isSafe, (1...254).contains(text.utf8.count) else {
            throw InvalidLine(
                nil, "'\(name)' is not 1 to 254 letters, digits and characters of ._+@-")
        }
        return text
    }
}
