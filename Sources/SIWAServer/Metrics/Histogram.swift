/// How long things took, counted in buckets (Prometheus).
struct Histogram: Sendable {
    /// In seconds: from an answer of this machine to the longest wait for Apple.
    static let bounds = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]

    private var counts = [Int](repeating: 0, count: bounds.count)
    private var count = 0
    private var sum = Duration.zero

    mutating func observe(_ duration: Duration) {
        count += 1
        sum += duration
        let seconds = duration.inSeconds
        if let index = Self.bounds.firstIndex(where: { seconds <= $0 }) { counts[index] += 1 }
    }

    /// Its lines, each bucket with those below it.
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

extension Duration {
    /// As Prometheus counts time.
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
