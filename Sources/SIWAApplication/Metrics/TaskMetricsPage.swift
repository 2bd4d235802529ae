internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// The metrics of one job in Prometheus's text format
/// (https://prometheus.io/docs/instrumenting/exposition_formats/). Every sample has the job's `task`,
/// so that the files of several jobs can be in one folder.
struct TaskMetricsPage: Sendable {
    private let task: String
    private var families: [Family]

    private struct Family: Sendable {
        let name: String
        let help: String
        var samples: [Sample] = []
    }

    /// A value, and its labels after `task`.
    private struct Sample: Sendable {
        var labels: [(String, String)] = []
        let value: String
    }

    init(
        task: String, exitCode: CInt, endedAt: NumericDate, duration: Duration,
        findings: TaskMetrics.Findings
    ) {
        self.task = task
        let isSuccess = exitCode == 0 || exitCode == 1 && findings.items != nil
        families = [
            Family(
                name: Self.lastRun, help: "When the task ended, in seconds since 1970.",
                samples: [Sample(value: String(endedAt.seconds))]),
            Family(
                name: Self.lastSuccess,
                help: "When the task last succeeded, in seconds since 1970; 0 if it never has.",
                samples: isSuccess ? [Sample(value: String(endedAt.seconds))] : []),
            Family(
                name: "siwa_task_exit_code", help: "The exit code of the task's last run.",
                samples: [Sample(value: String(exitCode))]),
            Family(
                name: "siwa_task_duration_seconds", help: "How long the task's last run took.",
                samples: [Sample(value: duration.inMilliseconds)]),
            Self.items(findings.items, held: findings.heldItems),
            Family(
                name: Self.secretExpiry,
                help: "When the client_secret expires, in seconds since 1970.",
                samples: findings.secretExpiresAt.map {
                    [Sample(labels: [("profile", findings.profile)], value: String($0.seconds))]
                } ?? []),
            Self.tokens(findings.vaultTokens),
            Family(
                name: "siwa_key_set_age_seconds",
                help: "The age of the set of Apple's keys that the task used.",
                samples: findings.keySetFetchedAt.map {
                    [Sample(value: String((endedAt - $0).components.seconds))]
                } ?? []),
        ]
    }

    /// Keeps the metrics of the previous run that are still valid: the time of the last success,
    /// and the expiry of the client_secret.
    mutating func keepLasting(of old: String) {
        for index in families.indices where families[index].samples.isEmpty {
            guard [Self.lastSuccess, Self.secretExpiry].contains(families[index].name) else {
                continue
            }
            families[index].samples = samples(of: families[index].name, in: old)
        }
    }

    /// The text of the page. The time of the last success is 0 if there was none, so that alerts
    /// can compare it.
    var text: String {
        families.map { family in
            var samples = family.samples
            if samples.isEmpty, family.name == Self.lastSuccess { samples = [Sample(value: "0")] }
            guard !samples.isEmpty else { return "" }
            return MetricFamily(
                family.name, .gauge, family.help,
                inOrder: samples.map { .init([("task", task)] + $0.labels, $0.value) }
            ).lines.map { $0 + "\n" }.joined()
        }.joined()
    }

    /// The samples of a page that siwa wrote for the same task; empty for other pages.
    private func samples(of name: String, in page: String) -> [Sample] {
        let bare = "\(name){\(MetricFamily.Labels([("task", task)]).text)".unicodeScalars
        let profile = ",profile=\"".unicodeScalars
        return page.split(separator: "\n").map(\.unicodeScalars).compactMap { line in
            guard line.starts(with: bare), let space = line.lastIndex(of: " "),
                let value = Int(String(line[line.index(after: space)...]))
            else { return nil }
            let labels = line[..<space].dropFirst(bare.count)
            if labels.elementsEqual("}".unicodeScalars) { return Sample(value: String(value)) }
            guard labels.starts(with: profile),
                labels.suffix(2).elementsEqual("\"}".unicodeScalars),
                let text = MetricFamily.Labels.value(
                    of: labels.dropFirst(profile.count).dropLast(2))
            else { return nil }
            return Sample(labels: [("profile", text)], value: String(value))
        }
    }

    private static func items(_ items: [BatchStatus: Int]?, held: Int?) -> Family {
        Family(
            name: "siwa_task_items", help: "The items of the task's last run, by their outcome.",
            samples: items.map { items in
                BatchStatus.allCases.map { status in
                    Sample(
                        labels: [("status", status.rawValue)], value: String(items[status] ?? 0))
                } + (held.map { [Sample(labels: [("status", "held")], value: String($0))] } ?? [])
            } ?? [])
    }

    private static func tokens(_ counts: [TaskMetrics.VaultCount: Int]?) -> Family {
        let sorted = (counts ?? [:]).sorted {
            ($0.key.clientID.rawValue, $0.key.state.rawValue)
                < ($1.key.clientID.rawValue, $1.key.state.rawValue)
        }
        return Family(
            name: "siwa_vault_tokens", help: "The tokens in the vault, by client and state.",
            samples: sorted.map { count, number in
                Sample(
                    labels: [
                        ("client_id", count.clientID.rawValue), ("state", count.state.rawValue),
                    ], value: String(number))
            })
    }

    private static let lastRun = "siwa_task_last_run_timestamp_seconds"
    private static let lastSuccess = "siwa_task_last_success_timestamp_seconds"
    private static let secretExpiry = "siwa_client_secret_expires_at_seconds"
}

extension Duration {
    /// Seconds with three decimals.
    fileprivate var inMilliseconds: String {
        let milliseconds = Int(self / .milliseconds(1))
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }
}
