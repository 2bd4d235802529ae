internal import SIWAApplication
internal import SIWACommandTable

/// Which results a batch writes, by their status: `refused,failed,invalid`.
struct StatusFilter: ParameterValue, Hashable {
    private let statuses: [BatchStatus]

    /// Every result is written.
    static let all = Self(BatchStatus.allCases)

    init(_ statuses: [BatchStatus]) { self.statuses = statuses }

    init?(argument: String) {
        let words = argument.split(separator: ",", omittingEmptySubsequences: false)
        let statuses = words.compactMap { BatchStatus(rawValue: String($0)) }
        guard statuses.count == words.count else { return nil }
        self.statuses = statuses
    }

    static var expectation: String { "statuses with commas between, such as refused,failed" }

    var argumentDescription: String { statuses.map(\.rawValue).joined(separator: ",") }

    /// Whether results of this status are written.
    func contains(_ status: BatchStatus) -> Bool { statuses.contains(status) }
}
