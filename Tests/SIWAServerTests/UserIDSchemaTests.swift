import Foundation
import SIWAHTTPServer
import SIWAJOSE
import SIWALifecycle
import Testing

@testable import SIWAServer

/// What the OpenAPI document says of user ids is what requests may contain.
@Suite struct UserIDSchemaTests {
    @Test(arguments: [
        ("001234.ab.0001", true), ("ü 7 \t", true), (String(repeating: "a", count: 255), true),
        (String(repeating: "a", count: 256), false), ("", false), ("a\0b", false),
    ])
    func `the published schema allows what is accepted`(_ text: String, _ isAllowed: Bool) throws {
        let schema = JSONSchema.userID("The user.").json
        let pattern = try #require(schema["pattern"]?.string)
        let lengths =
            try #require(
                schema["minLength"]?.integer)...(try #require(schema["maxLength"]?.integer))
        #expect(
            (lengths.contains(text.unicodeScalars.count)
                && text.range(of: pattern, options: .regularExpression) != nil) == isAllowed)
        let request = RouteRequest(
            id: "1", body: ["user_id": .string(text)],
            http: ServerRequest(method: "POST", target: "/v1/revoke"))
        let read = try? RequestMembers(request).userID("user_id")
        #expect((read?.rawValue == text) == isAllowed)
    }

    @Test func `in a path or a query, control characters are not allowed`() throws {
        let schema = JSONSchema.userID("The user.", isInTarget: true).json
        let pattern = try #require(schema["pattern"]?.string)
        for (text, isAllowed) in [("ü 7", true), ("a\tb", false), ("a\u{85}b", false)] {
            #expect((text.range(of: pattern, options: .regularExpression) != nil) == isAllowed)
        }
    }
}
