import Testing

@testable import SIWALifecycle

@Suite struct IdentifiersTests {
    static let tenCharacters: [Row<(String, Bool)>] = [
        Row("letters and digits", ("A1B2C3D4E5", true)), Row("digits", ("1234567890", true)),
        Row("small letters", ("a1b2c3d4e5", true)), Row("nine", ("A1B2C3D4E", false)),
        Row("eleven", ("A1B2C3D4E5F", false)), Row("nothing", ("", false)),
        Row("a space", ("A1B2C3D4E ", false)), Row("a line feed", ("A1B2C3D4E\n", false)),
        Row("a hyphen", ("A1B2-C3D4E", false)), Row("a NUL", ("A1B2C3D4E\0", false)),
        Row("an umlaut, ten bytes", ("A1B2C3D4\u{C4}", false)),
        Row("full-width digits", ("\u{FF11}\u{FF12}\u{FF13}1", false)),
        Row("a Kelvin sign", ("\u{212A}1L2M3N4", false)),
        Row("a placeholder", ("TEAMID____", false)),
    ]

    @Test(arguments: tenCharacters) func `Team ID and Key ID have ten letters or digits`(
        _ row: Row<(String, Bool)>
    ) {
        let (text, isValid) = row.value
        #expect((try? TeamID(validating: text))?.rawValue == (isValid ? text : nil))
        #expect((try? KeyID(validating: text))?.rawValue == (isValid ? text : nil))
        guard !isValid else { return }
        #expect(throws: IdentifierError(text: text, fault: "must be ten letters and digits")) {
            try TeamID(validating: text)
        }
    }

    static let clientIDs: [Row<(String, Bool)>] = [
        Row("a bundle id", ("com.example.app", true)),
        Row("with a hyphen", ("com.example-1.app", true)),
        Row("255 characters", (String(repeating: "a", count: 255), true)),
        Row("256 characters", (String(repeating: "a", count: 256), false)),
        Row("nothing", ("", false)), Row("a space", ("com.example app", false)),
        Row("a line feed", ("com.example.app\n", false)),
        Row("not ASCII", ("com.\u{E9}xample.app", false)),
        Row("DEL", ("com.example\u{7F}", false)),
    ]

    @Test(arguments: clientIDs) func `a client id has only valid characters`(
        _ row: Row<(String, Bool)>
    ) {
        let (text, isValid) = row.value
        #expect((try? ClientID(validating: text))?.rawValue == (isValid ? text : nil))
    }

    @Test func `a user id is any text except an empty one`() {
        #expect(throws: Never.self) { try UserID(validating: "000723.25da8be3.0402") }
        #expect(throws: IdentifierError(text: "", fault: "must not be empty")) {
            try UserID(validating: "")
        }
    }

    @Test func `the description of an identifier is its text`() {
        #expect("\(TeamID(unchecked: "A1B2C3D4E5"))" == "A1B2C3D4E5")
    }
}
