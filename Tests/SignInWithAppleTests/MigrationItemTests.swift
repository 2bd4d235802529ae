import SIWACrypto
import Testing

@testable import SIWAJOSE
@testable import SIWALifecycle

/// The lines of a migration.
@Suite struct MigrationItemTests {
    private static let export = MigrationHalf.export(to: TeamID(unchecked: "R1C2P3N4T5"))

    @Test(arguments: [
        ("001234.0123456789abcdef.0830", "001234.0123456789abcdef.0830"),
        ("  u \r", "u"), (#"{"user_id":"u","more":[1]}"#, "u"), (#"{"sub":"u"}"#, "u"),
        (#"{"sub":"v","user_id":"u"}"#, "u"),
    ])
    func `the line of an exported user is read`(_ line: String, _ name: String) throws {
        let item = try MigrationItem(SecretBytes(line.utf8), line: 3, half: Self.export)
        #expect(item.identifier == name && item.line == 3 && item.oldUserID == nil)
    }

    @Test(arguments: [
        ("t", "t", nil), (#"{"transfer_id":"t","user_id":"u"}"#, "t", "u"),
        (#"{"transfer_sub":"t"}"#, "t", nil),
        (
            #"{"line":1,"transfer_id":"t","user_id":null,"old_user_id":"u","status":"refused"}"#,
            "t", "u"
        ),
    ])
    func `the line of an imported user is read`(_ line: String, _ name: String, _ old: String?)
        throws
    {
        let item = try MigrationItem(SecretBytes(line.utf8), line: 1, half: .admission)
        #expect(item.identifier == name && item.oldUserID?.rawValue == old)
    }

    @Test(arguments: [
        ("{", "the line is not a JSON*"), ("{}", "the line has no member 'user_id'"),
        (#"{"user_id":7}"#, "'user_id' is a number, not a string"),
        (#"{"user_id":""}"#, "the line has no identifier"),
        (#"{"transfer_id":"t"}"#, "the line has no member 'user_id'"),
        ("a b", "*a space*"), ("1,2", "*invalid character*"),
        ("\"u\"", "the line is JSON, but not an object"),
        ("ü", "*a space*"), ("x@example.com", "*an e-mail address*"),
        ("A1B2C3D4E5", "*a Team ID*"), (String(repeating: "1", count: 256), "*is longer*"),
    ])
    func `an invalid line is refused with the reason`(_ line: String, _ reason: String) throws {
        let error = #expect(throws: InvalidLine.self) {
            try MigrationItem(SecretBytes(line.utf8), line: 1, half: Self.export)
        }
        let words = reason.split(separator: "*").first.map(String.init) ?? ""
        let found = error?.reason ?? ""
        #expect(
            reason.hasPrefix("*")
                ? found.contains(words)
                : reason.hasSuffix("*") ? found.hasPrefix("the line ") : found == words, "\(found)")
    }

    @Test func `a user who was not exported cannot be imported`() throws {
        let line = #"{"line":1,"user_id":"u","transfer_id":null,"status":"refused"}"#
        let error = #expect(throws: InvalidLine.self) {
            try MigrationItem(SecretBytes(line.utf8), line: 1, half: .admission)
        }
        #expect(error?.id == nil && error?.oldUserID == "u")
        #expect(error?.reason.hasPrefix("the user was not exported") == true)
    }
}
