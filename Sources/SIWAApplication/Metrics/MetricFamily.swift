/// A metric with all its samples, in Prometheus's text format
/// (https://prometheus.io/docs/instrumenting/exposition_formats/).
package struct MetricFamily: Sendable {
    /// The type of a metric.
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// The labels of a sample: names and values, in their order.
    package struct Labels: Hashable, Sendable {
        /// The labels with escaped values, without braces; empty without labels.
        package let text: String

        /// Escapes the values.
        package init(_ labels: [(String, String)]) {
            text = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
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

        /// The value that was escaped; nil for a text that is not an escaped value.
        static func value(of escaped: Substring.UnicodeScalarView) -> String? {
            var (value, isEscape) = ("".unicodeScalars, false)
            for scalar in escaped {
                switch (isEscape, scalar) {
                case (false, "\\"): isEscape = true
                case (false, "\""), (false, "\n"): return nil
                case (false, _), (true, "\\"), (true, "\""):
                    value.append(scalar)
                    isEscape = false
                case (true, "n"):
                    value.append("\n")
                    isEscape = false
                default: return nil
                }
            }
            return isEscape ? nil : String(value)
        }
    }

    /// One value.
    package struct Sample: Sendable {
        let labels: Labels
        let value: String

        /// Creates a sample.
        package init(_ labels: [(String, String)] = [], _ value: some CustomStringConvertible) {
            (self.labels, self.value) = (Labels(labels), value.description)
        }

        fileprivate func line(_ name: String) -> String {
            "\(name)\(labels.text.isEmpty ? "" : "{\(labels.text)}") \(value)"
        }
    }

    /// The lines of the text format, `# HELP` and `# TYPE` first, even without samples.
    package let lines: [String]

    /// Creates a metric from the lines of its samples.
    package init(_ name: String, _ kind: Kind, _ help: String, lines: [String]) {
        self.lines = ["# HELP \(name) \(help)", "# TYPE \(name) \(kind.rawValue)"] + lines
    }

    /// Creates a metric with samples in this order.
    init(_ name: String, _ kind: Kind, _ help: String, inOrder samples: [Sample]) {
        self.init(name, kind, help, lines: samples.map { $0.line(name) })
    }

    /// Creates a metric with samples in the order of their lines.
    package init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        self.init(name, kind, help, lines: samples.map { $0.line(name) }.sorted())
    }
}
