/// The look that the console and the sign-in pages share.
enum PageTheme {
    /// Colours, light and dark, each text with a contrast of at least 4.5 to its ground.
    static let variables = """
        :root {
          color-scheme: light dark;
          --ground: #f4f5f8; --surface: #fff; --raised: #f0f2f6; --line: #dde1e9;
          --text: #161b26; --muted: #566072; --accent: #3346d3; --on-accent: #fff;
          --ok: #14683b; --ok-ground: #e2f5e9; --bad: #b0241b; --bad-ground: #fdebe9;
          --warn: #855000; --warn-ground: #fff1d6; --shadow: 0 1px 2px rgb(16 24 40 / .06);
          --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #0e1117; --surface: #161b24; --raised: #1e2531; --line: #2b3443;
            --text: #e6e9f0; --muted: #98a3b6; --accent: #93a5ff; --on-accent: #0e1117;
            --ok: #74d69c; --ok-ground: #12301f; --bad: #ff948b; --bad-ground: #3b1816;
            --warn: #f3c06a; --warn-ground: #35280d; --shadow: none;
          }
        }
        """

    /// A key on a disc; without one the browser would ask for /favicon.ico.
    static let icon =
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
        + "%3Crect width='32' height='32' rx='8' fill='%233346d3'/%3E"
        + "%3Cpath d='M16 7a5 5 0 0 0-2 9.6V25h4v-3h3v-3h-3v-2.4A5 5 0 0 0 16 7z' fill='white'/%3E"
        + "%3C/svg%3E"
}
