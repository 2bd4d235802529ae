internal import SIWACommandTable

/// `--wide`, for commands that print a table.
enum WideFlag {
    static func flag<Root>(
        _ path: @autoclosure @escaping LazyPath<Root, Bool>
    ) -> Parameter<Root> {
        .flag("wide", path(), help: "Show every column whole, however narrow the terminal is.")
    }
}
