import SIWAJOSE
import SIWALifecycle
import Testing

@Suite struct NotificationBodyTests {
    static let jwt = String(decoding: AppleSigned.notification.text, as: UTF8.self)
    static let accepted: [Row<String>] = [
        Row("a bare JWT", jwt), Row("with a line end", jwt + "\n"),
        Row("with Windows'", jwt + "\r\n"),
        Row("with a line after it", jwt + "\nnot read"),
        Row("with spaces in front", " \n\t" + jwt),
        Row("as Apple posts it", #"{"payload":"\#(jwt)"}"#),
        Row("with more members", #"{"a":{"payload":1},"payload":"\#(jwt)","b":null}"#),
        Row("on several lines", "\r\n{\n  \"payload\" :\n    \"\(jwt)\"\r\n}\n\n"),
        Row("with escapes", #"{"p\u0061yload":"\u0065\#(jwt.dropFirst())"}"#),
    ]

    @Test(arguments: accepted) func `a notification is read from every form of body`(
        _ row: Row<String>
    ) throws {
        let token = try CompactJWS.read(notificationBody: Array(row.value.utf8))
        #expect(token.payload["jti"] == "S25cB0PbHs6y97gYYmgydQ")
    }

    static let refused: [Row<(body: String, says: String)>] = [
        Row("nothing", ("", "no dot")), Row("spaces", (" \n ", "no dot")),
        Row("a form", ("payload=" + jwt, "it is a form; Apple posts JSON")),
        Row("a JSON string", ("\"\(jwt)\"", "quotation marks")),
        Row("another object", (#"{"signedPayload":"x"}"#, "no member 'payload'")),
        Row("an empty object", ("{}", "no member 'payload'")),
        Row("an object as payload", (#"{"payload":{}}"#, "'payload' is an object")),
        Row("payload twice", (#"{"payload":"\#(jwt)","payload":"\#(jwt)"}"#, "'payload' twice")),
        Row("half of it", (#"{"payload":"\#(jwt)"#, "ends in the middle")),
        Row("something after it", (#"{"payload":"\#(jwt)"}{}"#, "after its end")),
        Row("another text", (#"{"payload":"hello"}"#, "no dot")),
        Row("an empty text", (#"{"payload":""}"#, "no dot")),
        Row("a line end in the token", (#"{"payload":"\#(jwt)\n"}"#, "0x0a")),
        Row("a JWE", (#"{"payload":"a.b.c.d.e"}"#, "5 parts")),
        Row("a bomb", (String(repeating: #"{"a":"#, count: 20_000), "nested too deeply")),
        Row("megabytes", (String(repeating: "a", count: 3_000_000), "3000000 bytes")),
    ]

    @Test(arguments: refused)
    func `an invalid body is refused with the reason`(_ row: Row<(body: String, says: String)>)
        throws
    {
        let error = #expect(throws: NotificationBodyError.self) {
            try CompactJWS.read(notificationBody: Array(row.value.body.utf8))
        }
        let words = try #require(error).description
        #expect(words.contains(row.value.says) && !words.contains(Self.jwt), "\(words)")
    }
}
