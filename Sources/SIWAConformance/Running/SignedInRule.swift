package import SIWAJOSE
internal import SIWALifecycle

/// What the last answer of a sign-in looks like; everything else is a refusal.
package struct SignedInRule: Sendable {
    let statuses: [Int]
    let has: [String]
    let lacks: [String]
    let path: String?

    /// Matches nothing: `whoami` decides.
    init() { (statuses, has, lacks, path) = ([], [], [], nil) }

    init(_ json: JSON, at place: String) throws(ShapeError) {
        let reader = try JSONObjectReader(
            json, at: place, knowing: ["status", "has", "lacks", "path"])
        statuses = try reader.optional("status") ?? []
        has = try reader.optional("has") ?? []
        lacks = try reader.optional("lacks") ?? []
        path = try reader.optional("path")
    }

    /// Whether nothing is required.
    var isEmpty: Bool { statuses.isEmpty && has.isEmpty && path == nil }

    /// Whether an answer shows a sign-in.
    func matches(_ page: VisitedPage) -> Bool {
        guard !isEmpty, page.response.status < 400 || !statuses.isEmpty else { return false }
        guard statuses.isEmpty || statuses.contains(page.response.status) else { return false }
        guard path == nil || path == page.path else { return false }
        let body = try? JSON(page.response.body)
        return has.allSatisfy { body?.value(at: $0).isFilled == true }
            && !lacks.contains { body?.value(at: $0).isFilled == true }
    }
}

extension JSON? {
    /// Whether it is there, and not null.
    fileprivate var isFilled: Bool { self != nil && self != .some(.null) }
}

extension JSON {
    /// The value at a JSON pointer (RFC 6901).
    package func value(at pointer: String) -> JSON? {
        if pointer.isEmpty { return self }
        guard pointer.hasPrefix("/") else { return nil }
        var value = self
        for part in pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            let name = part.replacingEvery("~1", with: "/").replacingEvery("~0", with: "~")
            let next: JSON? =
                if let elements = value.elements {
                    Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
                } else {
                    value[String(name)]
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }
}
