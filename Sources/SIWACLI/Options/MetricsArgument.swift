internal import CommandTable

/// `--metrics FILE.prom`: the file to which a job writes its metrics for Prometheus.
struct MetricsArgument: ParameterValue, Hashable {
    let path: String
    /// The base name of the file, which identifies the job in monitoring.
    let task: String

    init?(argument: String) {
        let name = argument.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard name.hasSuffix(".prom"), name.utf8.count > 5 else { return nil }
        (path, task) = (argument, String(name.dropLast(5)))
    }

    static var expectation: String { "a file whose name ends in .prom" }

    var argumentDescription: String { path }

    /// `--metrics FILE.prom`.
    static func option<Root>(
        _ path: @autoclosure @escaping LazyPath<Root, MetricsArgument?>
    ) -> Parameter<Root> {
        .option(
            "metrics", path(), value: "FILE.prom",
            help:
                "Write the outcome for Prometheus to FILE.prom, on failure too. Only metrics of "
                + "siwa are replaced.",
            completion: .file)
    }
}
