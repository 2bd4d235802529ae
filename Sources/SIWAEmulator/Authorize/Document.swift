/// A page with one heading: sign-in, callback, error. At the top it says that this is not Apple.
struct Document {
    let title: String
    let content: HTML
    /// The script that runs after loading; the page must also work without scripts.
    var script: HTML = ""

    /// No form-action: browsers apply it to every redirect after a form, and where the client
    /// sends its users afterwards is not known.
    func page(status: Int = 200) -> Page {
        HTMLPage(title: "\(title) – siwa-emulator") { nonce in
            (head: #"<style nonce="\#(nonce)">\#(Self.style)</style>"#, body: body(nonce))
        }.page(status: status)
    }

    private func body(_ nonce: String) -> HTML {
        """
        <body>
        <header><span class="logo" aria-hidden="true"></span><p><strong>This is siwa-emulator, not \
        Apple.</strong> The users are invented, and no password is asked for.</p></header>
        <main>
        <h1>\(title)</h1>
        \(content)
        </main>
        \(script.source.isEmpty ? "" : #"<script nonce="\#(nonce)">\#(script)</script>"# as HTML)
        </body>
        """
    }

    private static let style = HTML(stringLiteral: PageTheme.variables + sheet)

    private static let sheet = """

        * { box-sizing: border-box; }
        body { margin: 0; min-height: 100vh; padding: 1rem; background: var(--ground); \
        color: var(--text); font: 1.0625rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
        header, main { max-width: 30rem; margin: 0 auto 1rem; }
        header { display: flex; gap: .75rem; align-items: center; padding: .75rem 1rem; \
        border: 1px dashed var(--muted); border-radius: .75rem; font-size: .9375rem; }
        header p { margin: 0; }
        .logo { flex: none; width: 2rem; height: 2rem; border-radius: .5rem; \
        background: var(--accent); position: relative; }
        .logo::before { content: ""; position: absolute; left: .6875rem; top: .375rem; \
        width: .625rem; height: .625rem; border-radius: 50%; background: var(--on-accent); }
        .logo::after { content: ""; position: absolute; left: .875rem; top: .875rem; \
        width: .25rem; height: .75rem; background: var(--on-accent); }
        main { padding: 1.5rem 1.25rem; background: var(--surface); border: 1px solid var(--line); \
        border-radius: 1rem; box-shadow: var(--shadow); }
        h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; }
        h2 { margin: 1.25rem 0 .25rem; font-size: 1rem; }
        p, dl { margin: 0 0 1rem; }
        main > :last-child { margin-bottom: 0; }
        dt { color: var(--muted); }
        dd { margin: 0 0 .75rem; }
        .mono { font-family: var(--mono); font-size: .9375rem; }
        a { color: var(--accent); }
        fieldset { margin: 0 0 1.25rem; padding: 0; border: 0; min-width: 0; }
        legend { padding: 0 0 .5rem; font-weight: 600; }
        label { display: flex; align-items: center; gap: .75rem; min-height: 3.25rem; \
        margin: 0 0 .5rem; padding: .5rem .875rem; border: 1px solid var(--line); \
        border-radius: .75rem; cursor: pointer; }
        label:hover { border-color: var(--accent); }
        label:has(:checked) { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
        label:has(:focus-visible) { outline: 2px solid var(--accent); outline-offset: 2px; }
        input { flex: none; width: 1.25rem; height: 1.25rem; margin: 0; accent-color: var(--accent); }
        input:focus-visible { outline: none; }
        small { display: block; color: var(--muted); font-size: .9375rem; }
        button, .button { display: inline-flex; align-items: center; justify-content: center; \
        min-height: 3rem; padding: 0 1.5rem; font: inherit; font-weight: 600; color: var(--text); \
        background: var(--raised); border: 1px solid var(--line); border-radius: .75rem; \
        cursor: pointer; text-decoration: none; }
        button:hover, .button:hover { border-color: var(--accent); }
        button:focus-visible, a:focus-visible { outline: 2px solid var(--accent); \
        outline-offset: 2px; }
        .actions { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0; }
        .actions button { flex: 1 1 9rem; }
        button.primary { background: var(--accent); color: var(--on-accent); \
        border-color: var(--accent); }
        .problem { padding: .75rem 1rem; border-radius: .75rem; background: var(--bad-ground); \
        color: var(--bad); }
        @media (min-width: 40rem) {
        body { padding-top: 8vh; }
        main { padding: 2rem; }
        }

        """
}
