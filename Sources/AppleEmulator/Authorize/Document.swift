internal import SignInWithApple

/// A whole page for people: one heading, no resource from elsewhere, and at the top a word
/// that this is not Apple.
struct Document {
    let title: String
    let content: HTML
    /// What it does by itself once it is there; without scripts it must work as well.
    var script: HTML = ""

    func page(status: Int = 200) -> Page {
        let nonce = Fresh.text(22, of: Fresh.alphanumeric)
        return Page(
            status: status,
            fields: [
                HTTPField("Content-Type", "text/html;charset=UTF-8"),
                HTTPField("Cache-Control", "no-store"),
                HTTPField("X-Frame-Options", "DENY"),
                HTTPField("X-Content-Type-Options", "nosniff"),
                HTTPField("Content-Security-Policy", Self.policy(nonce)),
            ],
            body: Array(html(nonce).source.utf8))
    }

    /// No form-action: browsers apply it to every redirect behind a form, and where the client
    /// sends its users afterwards is not ours to know.
    private static func policy(_ nonce: String) -> String {
        """
        default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; \
        base-uri 'none'; frame-ancestors 'none'
        """
    }

    private func html(_ nonce: String) -> HTML {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(title) – siwa-emulator</title>
        <style nonce="\(nonce)">\(Self.style)</style>
        </head>
        <body>
        <header><p><strong>This is siwa-emulator, not Apple.</strong> Nobody here is real, and \
        no password is asked for.</p></header>
        <main>
        <h1>\(title)</h1>
        \(content)
        </main>
        \(script.source.isEmpty ? "" : #"<script nonce="\#(nonce)">\#(script)</script>"# as HTML)
        </body>
        </html>

        """
    }

    private static let style: HTML = """

        :root { color-scheme: light dark; }
        body { font: 1.0625rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 0 auto; \
        padding: 1rem; overflow-wrap: anywhere; }
        h1 { font-size: 1.5rem; line-height: 1.25; }
        header { border: 2px dashed; border-radius: .5rem; padding: 0 1rem; }
        fieldset { border: 1px solid; border-radius: .5rem; margin: 1rem 0; padding: .25rem 1rem; }
        legend { font-weight: bold; padding: 0 .25rem; }
        label { display: flex; align-items: center; gap: .75rem; min-height: 3rem; \
        margin: .25rem 0; }
        input { flex: none; width: 1.25rem; height: 1.25rem; }
        small { display: block; }
        button { font: inherit; min-height: 3rem; padding: 0 1.5rem; margin: 0 .5rem .5rem 0; }

        """
}
