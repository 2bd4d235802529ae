internal import SIWAApplication
internal import SIWACommandTable

/// The value of `--vault`: the URL of a vault, or the vault of the settings.
enum VaultArgument: ParameterValue, Hashable {
    /// `--vault sqlite:PATH`, `--vault postgresql://…`
    case url(String)
    /// `--vault` without a value.
    case configured

    init?(argument: String) {
        if argument.isEmpty {
            self = .configured
        } else if Self.valuePrefixes.contains(where: argument.hasPrefix) {
            self = .url(argument)
        } else {
            return nil
        }
    }

    /// Nil for the vault of the settings.
    var url: String? {
        if case .url(let url) = self { url } else { nil }
    }

    static var valuePrefixes: [String] { Settings.vaultURLPrefixes }

    static var expectation: String { Settings.vaultURLExpectation }

    var argumentDescription: String { url ?? "" }

    /// `--vault [URL]`.
    static func option<Root>(
        _ path: @autoclosure @escaping LazyPath<Root, VaultArgument?>
    ) -> Parameter<Root> {
        .option(
            "vault", path(), value: "[URL]",
            help: "The vault: sqlite:PATH or postgresql://…; without URL, the one of the settings.")
    }
}
