/// The terminals on which results and messages are shown.
package struct Terminal: Sendable {
    /// The columns of standard output; nil if it is not a terminal.
    package let width: Int?
    /// How results are coloured.
    package let output: Paint
    /// How messages on standard error are coloured.
    let errors: Paint

    /// The same terminal; if `isWide`, tables need not fit its width.
    package func widened(_ isWide: Bool) -> Terminal {
        isWide ? Terminal(width: nil, output: output, errors: errors) : self
    }

    private init(width: Int?, output: Paint, errors: Paint) {
        (self.width, self.output, self.errors) = (width, output, errors)
    }

    /// No terminal.
    package init() {
        self.init(width: nil, isErrorsTerminal: false, variables: { _ in nil })
    }

    /// - Parameters:
    ///   - width: the columns of standard output; nil if it is not a terminal.
    ///   - isErrorsTerminal: whether standard error is one. Otherwise messages have no colours.
    ///   - variables: the environment; `NO_COLOR` (no-color.org) and `TERM=dumb` disable colours.
    package init(width: Int?, isErrorsTerminal: Bool, variables: (String) -> String?) {
        self.width = width
        let isColorful =
            isErrorsTerminal && nonEmpty(variables("NO_COLOR")) == nil
            && variables("TERM") != "dumb"
        errors = Paint(isOn: isColorful)
        output = Paint(isOn: isColorful && width != nil)
    }

    /// The colours of ECMA-48 that siwa uses.
    package enum Color: String, Sendable {
        case red = "31"
        case green = "32"
        case yellow = "33"
        case bold = "1"
        case faint = "2"
    }

    /// Colours texts if colours are enabled.
    package struct Paint: Sendable {
        let isOn: Bool

        /// The text in this colour; unchanged for nil.
        package func painted(_ text: String, _ color: Color?) -> String {
            guard isOn, let color else { return text }
            return "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m"
        }
    }
}
