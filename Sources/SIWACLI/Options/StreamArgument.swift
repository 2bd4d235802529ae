internal import SIWACommandTable

/// A path, or `-` for a standard stream.
protocol StreamArgument: ParameterValue, Hashable {
    /// Nil for the standard stream.
    var path: String? { get }

    init(path: String?)
}

extension StreamArgument {
    static var standard: Self { Self(path: nil) }

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.init(path: argument == "-" ? nil : argument)
    }

    static var expectation: String { "a path, or -" }

    var argumentDescription: String { path ?? "-" }
}

/// Where lines come from: a file, or standard input.
struct InputArgument: StreamArgument {
    let path: String?

    var readsStandardInput: Bool { path == nil }
}

/// Where lines go: a file, or standard output.
struct OutputArgument: StreamArgument {
    let path: String?
}
