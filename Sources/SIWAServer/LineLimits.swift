import SIWAJOSE

/// Which lines of the log are written, of those that anyone outside can cause: the first of each
/// kind in a minute. The others are counted. A pure value.
struct LineLimits: Sendable {
    /// The members that all lines of a kind share.
    typealias Kind = [JSON.Member]

    private struct Count {
        let begin: Duration
        var written = 0
        var omitted = 0
    }

    /// Lines of a kind that were not written.
    struct Omission: Hashable, Sendable {
        let kind: Kind
        let count: Int
    }

    private var counts: [Kind: Count] = [:]

    /// No line was written.
    init() {}

    /// The most lines of a kind in ``window``.
    static let most = 20
    /// How long lines of a kind are counted together.
    static let window = Duration.seconds(60)

    /// Whether a line is written.
    mutating func admits(_ kind: Kind, at now: Duration) -> Bool {
        var count = counts[kind] ?? Count(begin: now)
        defer { counts[kind] = count }
        guard count.written < Self.most else {
            count.omitted += 1
            return false
        }
        count.written += 1
        return true
    }

    /// The lines that were not written, of kinds whose time is over; forgets these kinds.
    ///
    /// - Parameter now: nil at the end of the process: all kinds.
    mutating func takeOmitted(at now: Duration?) -> [Omission] {
        let over = counts.filter { kind, count in
            now.map { $0 - count.begin >= Self.window } ?? true
        }
        for kind in over.keys { counts.removeValue(forKey: kind) }
        return over.filter { $0.value.omitted > 0 }
            .map { Omission(kind: $0.key, count: $0.value.omitted) }
            .sorted { JSON.object($0.kind).text < JSON.object($1.kind).text }
    }
}
