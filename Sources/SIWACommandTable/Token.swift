/// One element of a command line.
enum Token: Hashable, Sendable {
    /// A flag, by its long name.
    case flag(String)

    /// An option, by its long name, and its value.
    case option(String, String)

    /// A value known by its place.
    case operand(String)
}

extension String {
    /// Whether this argument is read as flags: it begins with a hyphen and is neither `-`, which is
    /// a value, nor `--`, which ends the flags.
    ///
    /// Compares bytes, because a combining mark after the hyphen must not hide it.
    var isFlagLike: Bool {
        utf8.first == UInt8(ascii: "-") && utf8.count > 1 && self != "--"
    }
}
