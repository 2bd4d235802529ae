/// The look that the console and the sign-in pages share.
enum PageTheme {
    /// Colours, light and dark; every text has a contrast of at least 4.5 to its background.
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

    /// An SVG of a key; without an icon, browsers request /favicon.ico.
    static let icon =
        "data:image/svg+xml;base64,"
        + "PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmcnIHZpZXdCb3g9JzAgMCAz"
        + "MiAzMic+PHJlY3Qgd2lkdGg9JzMyJyBoZWlnaHQ9JzMyJyByeD0nOCcgZmlsbD0nIzMzNDZk"
        + "MycvPjxwYXRoIGQ9J00xNiA3YTUgNSAwIDAgMC0yIDkuNlYyNWg0di0zaDN2LTNoLTN2LTIu"
        + "NEE1IDUgMCAwIDAgMTYgN3onIGZpbGw9JyNmZmYnLz48L3N2Zz4="
}
