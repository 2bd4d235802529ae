import SIWACrypto
import SIWALifecycle
import Testing

@Suite struct HTTPTests {
    @Test func `header fields are case-insensitive, and the first one counts`() {
        let fields = [HTTPField("Content-TYPE", "a"), HTTPField("content-type", "b")]
        #expect(fields["Content-Type"] == "a")
        #expect(fields["Content"] == nil)
    }

    static let kinds: [Row<(String?, Bool)>] = [
        Row("absent", (nil, false)), Row("JSON", ("application/json", false)),
        Row("with a charset", ("text/html; charset=UTF-8", true)),
        Row("in capitals", ("TEXT/HTML", true)), Row("HTML", ("text/html", true)),
    ]

    @Test(arguments: kinds) func `a page is recognised by its content type`(
        _ row: Row<(String?, Bool)>
    ) {
        let fields = row.value.0.map { [HTTPField("Content-Type", $0)] } ?? []
        #expect(HTTPResponse(status: 200, fields: fields).isHTML == row.value.1)
    }

    @Test func `secrets that a server repeats are replaced`() {
        let secret = SecretText("c0123456789.0.abc")
        let echo = HTTPResponse(
            status: 400, fields: [HTTPField("X", "id c0123456789.0.abc")],
            body: Array("c01 c0123456789.0.abc, c0123456789.0.abc!".utf8))
        let shown = echo.redacting([secret, SecretText("short")])
        #expect(shown.fields["X"] == "id (\(secret))")
        #expect(String(decoding: shown.body, as: UTF8.self) == "c01 (\(secret)), (\(secret))!")
    }

    static let encoded: [Row<(String, String)>] = [
        Row("unreserved", ("AZaz09-._~", "AZaz09-._~")), Row("a space", ("a b", "a%20b")),
        Row("form separators", ("a&b=c+d", "a%26b%3Dc%2Bd")),
        Row("a percent sign", ("100%", "100%25")),
        Row("a URL", ("https://x.y/z?q#f", "https%3A%2F%2Fx.y%2Fz%3Fq%23f")),
        Row("an asterisk", ("*", "%2A")),
        Row("control characters", ("\0\n\r\u{7F}", "%00%0A%0D%7F")),
        Row("UTF-8", ("\u{E9}\u{20AC}\u{1F600}", "%C3%A9%E2%82%AC%F0%9F%98%80")),
        Row("nothing", ("", "")),
    ]

    @Test(arguments: encoded) func `a form encodes special characters`(_ row: Row<(String, String)>)
    {
        let (plain, expected) = row.value
        let form = Form([("plain", .plain(plain)), ("secret", .secret(SecretText(plain)))])
        let text = String(decoding: form.encoded().revealed(), as: UTF8.self)
        #expect(text == "plain=\(expected)&secret=\(expected)")
    }

    @Test func `the names of a form are encoded, and their order is kept`() {
        let form = Form([("b c", .plain("1")), ("a", .plain("2")), ("b c", .plain("3"))])
        #expect(form.encoded().revealed() == Array("b%20c=1&a=2&b%20c=3".utf8))
        #expect(Form([]).encoded().count == 0)
    }

    static let origins: [Row<(String, String?)>] = [
        Row("Apple", ("https://appleid.apple.com", "https://appleid.apple.com")),
        Row("a slash after it", ("https://appleid.apple.com/", "https://appleid.apple.com")),
        Row("a port", ("https://localhost:8443", "https://localhost:8443")),
        Row("an IPv4 address", ("https://10.0.0.1", "https://10.0.0.1")),
        Row("an IPv6 address", ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443")),
        Row("http to localhost", ("http://localhost:8080", "http://localhost:8080")),
        Row("http to LOCALHOST", ("http://LOCALHOST", "http://LOCALHOST")),
        Row("http to 127.0.0.1", ("http://127.0.0.1:1", "http://127.0.0.1:1")),
        Row("http to 127.9.9.9", ("http://127.9.9.9", "http://127.9.9.9")),
        Row("http to ::1", ("http://[::1]:65535", "http://[::1]:65535")),
    ]

    @Test(arguments: origins) func `a valid base URL is accepted`(_ row: Row<(String, String?)>)
        throws
    {
        let url = try BaseURL(validating: row.value.0)
        #expect(url.description == row.value.1)
        #expect(url.url(of: .token) == "\(url)/auth/token")
    }

    static let noOrigins: [Row<(String, BaseURLError)>] = [
        Row("nothing", ("", .scheme)), Row("no scheme", ("appleid.apple.com", .scheme)),
        Row("a capital scheme", ("HTTPS://appleid.apple.com", .scheme)),
        Row("ftp", ("ftp://x", .scheme)),
        Row("a file", ("file:///etc/passwd", .scheme)),
        Row("a space in front", (" https://x", .scheme)),
        Row("a path", ("https://x/auth", .notAnOrigin)),
        Row("two slashes after it", ("https://x//", .notAnOrigin)),
        Row("a query", ("https://x?y", .notAnOrigin)),
        Row("a fragment", ("https://x#y", .notAnOrigin)),
        Row("a user", ("https://u@x", .notAnOrigin)),
        Row("a backslash", ("https://x\\y", .notAnOrigin)),
        Row("a user and loopback", ("http://localhost@evil.example", .notAnOrigin)),
        Row("no host", ("https://", .host)), Row("a slash for a host", ("https:///", .host)),
        Row("a port alone", ("https://:443", .host)), Row("an empty port", ("https://x:", .host)),
        Row("port 0", ("https://x:0", .host)), Row("port 65536", ("https://x:65536", .host)),
        Row("a port with a sign", ("https://x:+80", .host)),
        Row("a word for a port", ("https://x:http", .host)),
        Row("two ports", ("https://x:1:2", .host)),
        Row("a space in the host", ("https://x y", .host)),
        Row("a line feed", ("https://x\n", .host)), Row("a NUL", ("https://x\0", .host)),
        Row("a host that is not ASCII", ("https://\u{E4}pple.com", .host)),
        Row("a percent sign", ("https://x%2e", .host)),
        Row("an open bracket", ("https://[::1", .host)),
        Row("a bracket alone", ("https://[", .host)), Row("empty brackets", ("https://[]", .host)),
        Row("text after the bracket", ("https://[::1]x", .host)),
        Row("a zone", ("https://[fe80::1%25eth0]", .host)),
        Row("http to Apple", ("http://appleid.apple.com", .plainHTTP)),
        Row("http to a name like localhost", ("http://localhost.example.com", .plainHTTP)),
        Row("http to a name like 127", ("http://127.0.0.1.example.com", .plainHTTP)),
        Row("http to 128.0.0.1", ("http://128.0.0.1", .plainHTTP)),
        Row("http to 0.0.0.0", ("http://0.0.0.0", .plainHTTP)),
        Row("http to 127.1", ("http://127.1", .plainHTTP)),
        Row("http to ::2", ("http://[::2]", .plainHTTP)),
    ]

    @Test(arguments: noOrigins) func `an invalid base URL is refused`(
        _ row: Row<(String, BaseURLError)>
    ) {
        #expect(throws: row.value.1) { try BaseURL(validating: row.value.0) }
        #expect(!row.value.1.description.isEmpty)
    }

    @Test func `the endpoints are Apple's`() {
        #expect(
            Endpoint.allCases.map { BaseURL.apple.url(of: $0) } == [
                "https://appleid.apple.com/auth/token", "https://appleid.apple.com/auth/revoke",
                "https://appleid.apple.com/auth/usermigrationinfo",
                "https://appleid.apple.com/auth/keys",
                "https://appleid.apple.com/auth/authorize",
            ])
    }
}
