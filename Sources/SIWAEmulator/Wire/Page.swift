internal import SIWAJOSE
internal import SIWALifecycle

/// An answer without the header fields that Apple's edge adds to every answer.
struct Page: Sendable {
    var status: Int
    var fields: [HTTPField]
    var body: [UInt8]

    /// JSON as the endpoints send it, which must not be cached.
    static func json(_ value: JSON, status: Int = 200) -> Page {
        Page(status: status, fields: jsonFields, body: value.bytes)
    }

    /// The answer of revoke: an empty body without a content type.
    static let nothing = Page(status: 200, fields: Array(jsonFields.dropFirst()), body: [])

    /// The same with the content type of JSON.
    var labelled: Page { Page(status: status, fields: Self.jsonFields, body: body) }

    /// An empty body without a content type, as in a 403 of Apple's edge.
    static func bare(status: Int) -> Page { Page(status: status, fields: [], body: []) }

    /// A redirect to another page of this server.
    static func seeOther(_ location: String) -> Page {
        Page(
            status: 303,
            fields: [HTTPField("Location", location), HTTPField("Cache-Control", "no-store")],
            body: [])
    }

    /// A style sheet or script of the console.
    static func asset(_ source: String, type: String) -> Page {
        Page(
            status: 200,
            fields: [
                HTTPField("Content-Type", "\(type);charset=UTF-8"),
                HTTPField("Cache-Control", "no-cache"),
                HTTPField("X-Content-Type-Options", "nosniff"),
            ],
            body: Array(source.utf8))
    }

    /// A piece of HTML that the console's script puts into its page.
    static func fragment(_ html: HTML) -> Page {
        var page = asset(html.source, type: "text/html")
        // If the fragment is opened by itself, the policy disables everything.
        page.fields.append(HTTPField("Content-Security-Policy", "default-src 'none'; sandbox"))
        return page
    }

    /// A text given by a fault.
    static func text(_ text: String, status: Int) -> Page {
        Page(
            status: status, fields: [HTTPField("Content-Type", "text/plain;charset=UTF-8")],
            body: Array(text.utf8))
    }

    /// The page of Apple's edge; for 503 these are the 190 bytes that were recorded.
    static func edge(status: Int) -> Page {
        let title = "\(status) \(phrases[status] ?? "Error")"
        let lines = [
            "<html>", "<head><title>\(title)</title></head>", "<body>",
            "<center><h1>\(title)</h1></center>", "<hr><center>Apple</center>", "</body>",
            "</html>", "",
        ]
        return Page(
            status: status, fields: [HTTPField("Content-Type", "text/html")],
            body: Array(lines.joined(separator: "\r\n").utf8))
    }

    private static let jsonFields = [
        HTTPField("Content-Type", "application/json;charset=UTF-8"),
        HTTPField("Cache-Control", "no-store"), HTTPField("Pragma", "no-cache"),
    ]

    private static let phrases = [
        400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Not Allowed",
        413: "Request Entity Too Large", 429: "Too Many Requests", 500: "Internal Server Error",
        502: "Bad Gateway", 503: "Service Temporarily Unavailable", 504: "Gateway Time-out",
    ]
}
