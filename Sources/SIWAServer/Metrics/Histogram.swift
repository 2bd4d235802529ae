internal import SIWAApplication
internal import SIWAServerRecords

/// A histogram of durations, in the form of Prometheus.
struct Histogram: Sendable {
    /// The upper bounds of the buckets, in seconds: from a local response to the longest wait for
    /// Apple.
    static let bounds = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]

    private var counts = [Int](repeating: 0, count: bounds.count)
    private var count = 0
    private var sum = Duration.zero

    init() {}

    /// The sum of several.
    init(_ parts: some Collection<Histogram>) {
        for part in parts {
            counts = zip(counts, part.counts).map { $0 + $1 }
            count += part.count
            sum += part.sum
        }
    }

    /// The times in which half and 99 of 100 ended; nil without observations.
    var times: ServerFacts.Times? {
        guard count > 0 else { return nil }
        return ServerFacts.Times(
            count: count, medianMilliseconds: bound(of: 50), p99Milliseconds: bound(of: 99))
    }

    /// The upper bound of the bucket in which a percentage of the observations ended, in whole
    /// milliseconds; nil above all bounds.
    private func bound(of percent: Int) -> Int? {
        var total = 0
        for (bound, number) in zip(Self.bounds, counts) {
            total += number
            if total * 100 >= count * percent { return Int((bound * 1000).rounded(.up)) }
        }
        return nil
    }

    mutating func observe(_ duration: Duration) {
        count += 1
        sum += duration
        let seconds = duration.inSeconds
        if let index = Self.bounds.firstIndex(where: { seconds <= $0 }) { counts[index] += 1 }
    }

    /// The lines of the text format; the buckets are cumulative.
    ///
    /// - Parameter labels: without braces; empty for none.
    func lines(_ name: String, _ labels: String) -> [String] {
        var total = 0
        let comma = labels.isEmpty ? "" : ","
        let buckets = zip(Self.bounds, counts).map { bound, number in
            total += number
            return "\(name)_bucket{\(labels)\(comma)le=\"\(bound)\"} \(total)"
        }
        let braced = labels.isEmpty ? "" : "{\(labels)}"
        return buckets + [
            "\(name)_bucket{\(labels)\(comma)le=\"+Inf\"} \(count)",
            "\(name)_sum\(braced) \(sum.inSeconds)", "\(name)_count\(braced) \(count)",
        ]
    }
}

extension MetricFamily {
    init(_ name: String, _ help: String, _ histograms: [([(String, String)], Histogram)]) {
        let sorted = histograms.map { (labels: Labels($0).text, histogram: $1) }
            .sorted { $0.labels < $1.labels }
        self.init(
            name, .histogram, help, lines: sorted.flatMap { $0.histogram.lines(name, $0.labels) })
    }
}

extension Duration {
    /// The duration in seconds, the unit of Prometheus.
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
