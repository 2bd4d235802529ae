internal import SIWALifecycle

/// A page for people: the header fields, the policy and the head that the console and the sign-in
/// pages have in common. It loads nothing from other servers.
struct HTMLPage {
    let title: String
    /// More directives of the Content-Security-Policy, each with its semicolon.
    var policy = ""
    /// More header fields.
    var fields: [HTTPField] = []
    /// The rest of the head, and the body. Scripts and styles need the nonce, which is new each time.
    let content: (_ nonce: String) -> (head: HTML, body: HTML)

    func page(status: Int = 200) -> Page {
        let nonce = Fresh.text(22)
        return Page(
            status: status,
            fields: [
                HTTPField("Content-Type", "text/html;charset=UTF-8"),
                HTTPField("Cache-Control", "no-store"),
                HTTPField("X-Frame-Options", "DENY"),
                HTTPField("X-Content-Type-Options", "nosniff"),
                HTTPField("Content-Security-Policy", policy(nonce)),
            ] + fields,
            body: Array(html(nonce).source.utf8))
    }

    private func policy(_ nonce: String) -> String {
        """
        default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; \
        img-src data:; \(policy)base-uri 'none'; frame-ancestors 'none'
        """
    }

    private func html(_ nonce: String) -> HTML {
        let (head, body) = content(nonce)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title)</title>
            <link rel="icon" href="\(PageTheme.icon)">
            \(head)
            </head>
            \(body)
            </html>

            """
    }
}
