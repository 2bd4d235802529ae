internal import JOSE
internal import Lifecycle

/// The ids of an item in its result.
struct ItemName: Sendable {
    /// The item's id; in a migration, the identifier in the request.
    let id: JSON?
    /// The old id of a user in a migration, if the line contains it.
    var oldUserID: String?
}

/// The first bytes of every result line.
package let resultBeginning = #"{"line":"#

/// The order of the members of a result after its line.
enum BatchLayout: Sendable {
    /// `{"line","id","status","exit_code",…}`.
    case standard
    /// `{"line","user_id","transfer_id",…,"status","exit_code"}`, or with the two ids in the other
    /// order: both are always present, so that an export's results are an import's input.
    case migration(MigrationHalf)

    /// The members of a result after its line.
    func members(_ name: ItemName, _ report: ItemReport) -> [JSON.Member] {
        let verdict: [JSON.Member] = [
            .init("status", .string(report.status.rawValue)),
            .init("exit_code", .integer(Int(report.exitCode.rawValue))),
        ]
        return switch self {
        case .standard:
            // Apple's answer may have any members.
            [.init("id", name.id ?? .null)] + verdict
                + report.members.filter {
                    !["line", "id", "status", "exit_code"].contains($0.name)
                } + report.errorMembers
        case .migration(let half):
            half.names(name, report.user)
                + (name.oldUserID.map { [.init("old_user_id", .string($0))] } ?? [])
                + report.members + verdict + report.errorMembers
        }
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
