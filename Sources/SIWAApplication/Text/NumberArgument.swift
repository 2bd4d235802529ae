package import SIWACommandTable
internal import SIWAJOSE

/// An integer on the command line, with or without the unit after it.
package protocol NumberArgument: ParameterValue, Hashable {
    /// The accepted numbers.
    static var range: ClosedRange<Int> { get }
    /// The unit, such as `/s`; empty if absent.
    static var unit: String { get }

    /// Creates the argument from a number in ``range``.
    init(number: Int)
}

extension NumberArgument {
    package static var unit: String { "" }

    /// Reads decimal digits; nil for other characters and for numbers outside ``range``.
    package init?(argument: String) {
        let digits =
            argument.hasSuffix(Self.unit) ? argument.dropLast(Self.unit.count) : argument[...]
        guard digits.isDecimal, let number = Int(digits), Self.range.contains(number) else {
            return nil
        }
        self.init(number: number)
    }
}
