import SIWAJOSE
import SIWALifecycle
import Testing

/// An answer of the token endpoint, in short.
struct Outcome: Equatable, CustomStringConvertible {
    let status: Int
    let body: JSON

    init(_ response: HTTPResponse) {
        status = response.status
        body = (try? JSON(response.body)) ?? .null
    }

    init(_ error: String, _ description: String? = nil) {
        status = 400
        let detail = description.map { [JSON.Member("error_description", .string($0))] } ?? []
        body = .object([JSON.Member("error", .string(error))] + detail)
    }

    var description: String { "\(status) \(body.text)" }

    func text(_ member: String) throws -> String { try body.text(member) }
}

extension JSON {
    /// The text of a member that must be there.
    func text(_ member: String) throws -> String { try #require(self[member]?.string) }
}
