package import SIWACrypto
internal import SIWAJOSE

/// One line of a migration: a user of the old team, or a user who arrives at the new team.
package struct MigrationItem: Sendable {
    /// Its line in the input, from 1.
    package let line: Int
    /// The question to Apple.
    package let request: MigrationRequest
    /// The old id of a user who arrives, if the line contains it.
    package let oldUserID: UserID?
    /// The bearer token of the latest request about it.
    var bearer: BearerTokenRotation.BearerToken?
    /// The number of bearer tokens that were refused with it.
    var bearersRefused = 0

    /// Reads a line: a bare identifier, or a JSON object with a member `user_id` (or `sub`) for
    /// an export, `transfer_id` (or `transfer_sub`) for an import. A result of the export is an
    /// item of the import.
    ///
    /// - Throws: ``InvalidLine``.
    package init(_ text: SecretBytes, line: Int, half: MigrationHalf) throws(InvalidLine) {
        let content = try ItemLine(text)
        self.line = line
        let name =
            if let object = content.object { try half.name(in: object.value) } else {
                content.bare?.revealed() ?? ""
            }
        if let fault = half.fault(in: name) {
            throw InvalidLine(.string(name.clipped(to: 255)), fault)
        }
        switch half {
        case .export(let team):
            request = .export(UserID(unchecked: name), to: team)
            oldUserID = nil
        case .admission:
            request = .admission(TransferID(unchecked: name))
            let old = content.object.flatMap { ($0["old_user_id"] ?? $0["user_id"])?.string }
            oldUserID = old.flatMap { try? UserID(validating: $0) }
        }
    }

    /// The identifier in the question.
    package var identifier: String {
        switch request {
        case .export(let userID, _): userID.rawValue
        case .admission(let transferID): transferID.rawValue
        }
    }
}

/// One of the two halves of a migration.
package enum MigrationHalf: Sendable {
    /// The old team requests transfer identifiers for this new team.
    case export(to: TeamID)
    /// The new team requests the new ids of its users.
    case admission
}

extension MigrationHalf {
    /// The member names of the identifier in a line; the first one is the name that siwa writes.
    fileprivate var memberNames: [String] {
        switch self {
        case .export: ["user_id", "sub"]
        case .admission: ["transfer_id", "transfer_sub"]
        }
    }

    fileprivate func name(in json: JSON) throws(InvalidLine) -> String {
        switch memberNames.lazy.compactMap({ json[$0] }).first {
        case .string(let text): return text
        case nil: throw InvalidLine(nil, "the line has no member '\(memberNames[0])'")
        case .null where json["status"] != nil && json["status"] != "done":
            throw InvalidLine(
                nil, "the user was not exported: the line of the export says why",
                oldUserID: json["user_id"]?.string)
        case let other?:
            throw InvalidLine(nil, "'\(memberNames[0])' is \(other.kind), not a string")
        }
    }

    /// Why a text cannot be one of Apple's identifiers, whose shape is not documented.
    fileprivate func fault(in name: String) -> String? {
        if name.isEmpty { return "the line has no identifier" }
        if name.utf8.contains(0x40) { return "the line holds an e-mail address, not an identifier" }
        let isBare = name.utf8.allSatisfy {
            (0x21...0x7E).contains($0) && ![0x22, 0x27, 0x2C, 0x3B].contains($0)
        }
        guard isBare else {
            return "the identifier contains a space, a quotation mark or another invalid character"
        }
        if name.utf8.count > 255 { return "the identifier is longer than any of Apple's" }
        if TeamID.fault(in: name) == nil { return "the line holds a Team ID or Key ID, not a user" }
        return nil
    }
}
