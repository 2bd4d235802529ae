/// A metric with all its samples, in the text format of Prometheus.
struct MetricFamily {
    enum Kind: String {
        case counter, gauge, histogram
    }

    /// One value.
    struct Sample {
        let labels: String
        let value: String

        init(_ labels: [(String, String)], _ value: some CustomStringConvertible) {
            self.labels = Self.text(labels)
            self.value = value.description
        }

        static func text(_ labels: [(String, String)]) -> String {
            labels.map { "\($0.0)=\"\(escaped($0.1))\"" }.joined(separator: ",")
        }

        private static func escaped(_ text: String) -> String {
            // By scalars, because a combining accent would hide a preceding quotation mark.
            text.unicodeScalars.reduce(into: "") { result, scalar in
                switch scalar {
                case "\\": result += "\\\\"
                case "\"": result += "\\\""
                case "\n": result += "\\n"
                default: result.unicodeScalars.append(scalar)
                }
            }
        }
    }

    private let head: [String]
    private let samples: [String]

    /// Creates a metric; its header is written even without samples.
    init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        head = ["# HELP \(name) \(help)", "# TYPE \(name) \(kind.rawValue)"]
        self.samples = samples.map {
            "\(name)\($0.labels.isEmpty ? "" : "{\($0.labels)}") \($0.value)"
        }.sorted()
    }

    init(_ name: String, _ help: String, _ histograms: [([(String, String)], Histogram)]) {
        head = ["# HELP \(name) \(help)", "# TYPE \(name) histogram"]
        samples =
            histograms
            .map { (labels: Sample.text($0.0), histogram: $0.1) }
            .sorted { $0.labels < $1.labels }
            .flatMap { $0.histogram.lines(name, $0.labels) }
    }

    /// The lines in the text format of Prometheus, `# HELP` and `# TYPE` first.
    var lines: [String] { head + samples }
}
