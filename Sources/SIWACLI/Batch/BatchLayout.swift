internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle

/// The ids of an item in its result.
struct ItemName: Sendable {
    /// The item's id; in a migration, the identifier in the request.
    let id: JSON?
    /// The old id of a user in a migration, if the line contains it.
    var oldUserID: String?
}

/// The order of the members of a result after its line.
enum BatchLayout: Sendable {
    /// `{"line","id","status","exit_code",…}`.
    case standard
    /// `{"line","user_id","transfer_id",…,"status","exit_code"}`, or with the two ids in the other
    /// order: both are always present, so that an export's results are an import's input.
    case migration(MigrationHalf)

    /// Adds the members of a result after its line.
    func add(_ name: ItemName, _ report: ItemReport, to line: inout JSONLine) {
        switch self {
        case .standard:
            line.add("id", name.id ?? .null)
            line.add(report.status, report.exitCode)
            for member in report.members { line.add(member) }
        case .migration(let half):
            for member in half.names(name, report.user) { line.add(member) }
            if let id = name.oldUserID { line.add("old_user_id", .string(id)) }
            for member in report.members { line.add(member) }
            line.add(report.status, report.exitCode)
        }
        if let error = report.error { line.add(error) }
    }

    /// The names that members of a report must not have in the layout ``standard``.
    static let reservedNames = ["line", "id", "status", "exit_code"]
}

extension JSONLine {
    /// Adds the status of a result.
    mutating func add(_ status: BatchStatus, _ exitCode: ExitCode) {
        add("status", status.rawValue)
        add("exit_code", Int(exitCode.rawValue))
    }
}

extension MigrationHalf {
    /// The identifier in the request, and the one in Apple's answer, which is null if there was no
    /// answer.
    fileprivate func names(_ name: ItemName, _ user: MigratedUser?) -> [JSON.Member] {
        let asked = name.id ?? .null
        return switch self {
        case .export:
            [
                .init("user_id", asked),
                .init("transfer_id", user.map { .string($0.transferID.rawValue) } ?? .null),
            ]
        case .admission:
            [
                .init("transfer_id", asked),
                .init("user_id", user.map { .string($0.userID.rawValue) } ?? .null),
            ]
        }
    }
}
