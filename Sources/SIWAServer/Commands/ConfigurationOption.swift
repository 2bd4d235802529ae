internal import SIWACommandTable

/// The option that all commands of siwa-server share.
struct ConfigurationOption: Sendable {
    var file: String?

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        [
            Parameter<Self>.option(
                "config", \.file, value: "FILE", help: "Read the configuration from FILE.",
                completion: .file
            ).rerooted(at: path)
        ]
    }
}
