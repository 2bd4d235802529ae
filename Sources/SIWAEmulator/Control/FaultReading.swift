internal import SIWAJOSE
internal import SIWALifecycle

extension EmulatorReply.Cut: JSONConvertible {}

extension Fault {
    /// Reads what `POST /emulator/faults` queues.
    init(json: JSON) throws(ShapeError) {
        let reader = try JSONObjectReader(
            json,
            knowing: [
                "endpoint", "status", "page", "error", "error_description", "headers", "delay",
                "cut", "count", "percent", "process",
            ])
        page = try reader.page()
        error = try reader.optional("error")
        fields = try reader.fields()
        delay = try reader.optional("delay") ?? .zero
        cut = try reader.optional("cut")
        route = try reader.optional("endpoint")
        count = try reader.optional("count") ?? 1
        percent = try reader.optional("percent") ?? 100
        reachesApple = try reader.optional("process") ?? (page == nil || cut != nil)
        guard page != nil || cut != nil || delay > .zero || !fields.isEmpty else {
            throw ShapeError(
                "", "a fault must have a status, a page, an error, headers, a delay or a cut")
        }
        guard (1...1_000_000).contains(count), (.zero ... .seconds(3600)).contains(delay) else {
            throw ShapeError("", "'count' must be 1 to 1000000 and 'delay' at most an hour")
        }
        guard (1...100).contains(percent) else {
            throw ShapeError("", "'percent' must be 1 to 100")
        }
    }
}

extension JSONObjectReader {
    /// The answer instead of Apple's: an OAuth error, a page, or what Apple's edge
    /// answers with that status.
    fileprivate func page() throws(ShapeError) -> Page? {
        let status: Int? = try optional("status")
        guard (200...599).contains(status ?? 200) else {
            throw ShapeError(place, "'status' must be 200 to 599")
        }
        if let error: String = try optional("error") {
            return try oauthError(error, status: status ?? 400)
        }
        let kind: String? = try optional("page")
        guard status != nil || kind != nil else { return nil }
        return Self.page(kind, status: status ?? 503)
    }

    private func oauthError(_ error: String, status: Int) throws(ShapeError) -> Page {
        guard json["page"] == nil else {
            throw ShapeError(place, "'error' and 'page' exclude each other")
        }
        var members = [JSON.Member("error", .string(error))]
        if let description: String = try optional("error_description") {
            members.append(JSON.Member("error_description", .string(description)))
        }
        return .json(.object(members), status: status)
    }

    private static func page(_ kind: String?, status: Int) -> Page {
        switch kind {
        case "html": .edge(status: status)
        case "empty": .bare(status: status)
        // JSON that is neither a token response nor an OAuth error.
        case "json": .json(["status": .integer(status)], status: status)
        case let text?: .text(text, status: status)
        case nil: status == 403 ? .bare(status: status) : .edge(status: status)
        }
    }

    /// Refuses fields that would break the header section: that would be another fault than the one
    /// requested.
    fileprivate func fields() throws(ShapeError) -> [HTTPField] {
        guard json["headers"] != nil else { return [] }
        return try members("headers").map { entry throws(ShapeError) in
            let name = entry.member.name
            guard let value = entry.member.value.string, !name.isEmpty,
                value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
                name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") })
            else { throw ShapeError(entry.place, "must be one line of visible characters") }
            return HTTPField(name, value)
        }
    }
}
