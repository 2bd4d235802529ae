internal import SIWAApplication
internal import SIWACommandTable
internal import SIWASystem

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

extension TaskMetrics {
    /// Writes metrics when the command ends, if `argument` names a file; see
    /// ``begin(writingTo:as:_:in:)``.
    func begin(
        _ argument: MetricsArgument?, _ options: GlobalOptions, in world: World
    ) throws(FileError) {
        guard let argument else { return }
        try begin(
            writingTo: argument.path, as: argument.task, Console(world, options.output), in: world)
    }

    /// Sets the counts of a batch.
    ///
    /// - Parameter held: the records of a vault that other runs held.
    func noteItems(_ counts: BatchCounts, held: Int?) {
        note {
            $0.heldItems = held
            $0.items = [
                .done: counts.done, .refused: counts.refused, .failed: counts.failed,
                .invalid: counts.invalid,
            ]
        }
    }
}
