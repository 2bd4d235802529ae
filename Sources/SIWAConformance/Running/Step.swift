internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// One request to the backend, with templates such as `{{id_token}}`.
package struct Step: Sendable {
    enum Body: Sendable {
        case none
        case json(JSON)
        case form([JSON.Member])
    }

    enum Source: Sendable {
        case json(String)
        case header(String)
        case cookie(String)
        case html(String)
    }

    let method: String
    let path: String
    let headers: [JSON.Member]
    let body: Body
    let saves: [(name: String, source: Source)]
    /// A JSON pointer to the URL of Apple's page, where a body and no redirect has it.
    let authorize: String?

    private static let methods = ["get", "post", "put", "delete"]
    static let members = methods + ["headers", "json", "form", "save", "authorize"]

    init(_ json: JSON, at place: String) throws(ShapeError) {
        let reader = try JSONObjectReader(json, at: place, knowing: Self.members)
        let given = Self.methods.filter { json[$0] != nil }
        guard given.count == 1 else {
            throw ShapeError(place, "exactly one of get, post, put and delete is needed")
        }
        method = given[0].uppercased()
        path = try reader.required(given[0])
        guard path.hasPrefix("/"), path.utf8.allSatisfy({ $0 > 0x20 }) else {
            throw ShapeError(place, "'\(given[0])' must be a path that begins with /")
        }
        headers = try json["headers"] == nil ? [] : reader.members("headers").map(\.member)
        guard json["json"] == nil || json["form"] == nil else {
            throw ShapeError(place, "'json' and 'form' exclude each other")
        }
        body =
            if let value = json["json"] {
                .json(value)
            } else if json["form"] != nil {
                .form(try reader.members("form").map(\.member))
            } else {
                .none
            }
        saves = try Self.saves(reader)
        authorize = try reader.part("authorize") { json, place throws(ShapeError) in
            try JSONObjectReader(json, at: place, knowing: ["json"]).required("json")
        }
    }

    private static func saves(
        _ reader: JSONObjectReader
    ) throws(ShapeError) -> [(String, Source)] {
        guard reader.json["save"] != nil else { return [] }
        var saves: [(String, Source)] = []
        for (member, place) in try reader.members("save") {
            let source = try JSONObjectReader(
                member.value, at: place, knowing: ["json", "header", "cookie", "html"])
            guard let first = source.json.members?.first, let text = first.value.string else {
                throw ShapeError(place, "one of json, header, cookie and html is needed")
            }
            switch first.name {
            case "json": saves.append((member.name, .json(text)))
            case "header": saves.append((member.name, .header(text)))
            case "cookie": saves.append((member.name, .cookie(text)))
            default: saves.append((member.name, .html(text)))
            }
        }
        return saves
    }

    /// Whether a template sends the identity token or the code.
    var usesCredential: Bool { uses("id_token") || uses("code") }

    /// The texts that may have templates.
    var texts: [String] {
        let values: [String] =
            switch body {
            case .none: []
            case .json(let json): [json.text]
            case .form(let members): members.compactMap(\.value.string)
            }
        return [path] + headers.compactMap(\.value.string) + values
    }

    /// Whether a template sends the value called `name`.
    func uses(_ name: String) -> Bool {
        let marks = ["{{\(name)}}", "{{\(name)|url}}"]
        return texts.contains { text in marks.contains { text.holds($0) } }
    }
}

/// The values of templates, and what a request changes besides them.
struct Values: Sendable {
    var known: [String: JSON] = [:]
    /// Members to set in the body of every step from the first credential on.
    var extra: [JSON.Member] = []
    /// Whether they are set in the objects that send the credential, deep in the body.
    var isDeep = false
    /// Templates whose members are left out.
    var omitted: Set<String> = []

    /// The value of a template's name; `user.first_name` reads the member of `user`.
    func value(_ name: String) -> JSON? {
        if let value = known[name] { return value }
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        return parts.count == 2 ? known[parts[0]]?[parts[1]] : nil
    }

    /// A body with the additional members.
    func extended(_ body: JSON) -> JSON {
        let changes = extra.map { ($0.name, Optional($0.value)) }
        guard isDeep else { return body.changed(changes) }
        return body.mapObjects { object, isTop in
            let sends = object.contains { Step.isCredential($0.value) }
            return !isTop && sends ? JSON.object(object).changed(changes).members ?? [] : object
        }
    }

    /// A text with its templates filled in; nil if it is a template that is omitted.
    func filled(_ text: String) -> JSON? {
        if text.hasPrefix("{{"), text.hasSuffix("}}"), text.dropFirst(2).firstPlace(of: "{{") == nil
        {
            let name = String(text.dropFirst(2).dropLast(2))
            if omitted.contains(name) { return nil }
            if let value = value(name) { return value }
        }
        return .string(substituted(text))
    }

    /// A text with its templates replaced by texts.
    func substituted(_ text: String) -> String {
        var result = ""
        var rest = Substring(text)
        while let start = rest.firstPlace(of: "{{"),
            let end = rest[start.upperBound...].firstPlace(of: "}}")
        {
            result += rest[..<start.lowerBound]
            let parts = rest[start.upperBound..<end.lowerBound].split(separator: "|")
            let name = parts.first.map(String.init) ?? ""
            let value = omitted.contains(name) ? "" : (value(name)?.plainText ?? "")
            result += parts.count > 1 && parts[1] == "url" ? percentEncoded(value) : value
            rest = rest[end.upperBound...]
        }
        return result + rest
    }

    /// JSON with its templates filled in.
    func filled(_ json: JSON) -> JSON? {
        switch json {
        case .string(let text): filled(text)
        case .array(let elements): .array(elements.compactMap { filled($0) })
        case .object(let members):
            .object(
                members.compactMap { member in
                    filled(member.value).map { JSON.Member(member.name, $0) }
                })
        default: json
        }
    }
}

extension Step {
    /// Whether a value is the template of the identity token or of the code.
    static func isCredential(_ value: JSON) -> Bool {
        value.string.map { $0.holds("{{id_token") || $0.holds("{{code") } ?? false
    }

    /// Whether the body sends a credential in an object within it.
    var sendsCredentialDeep: Bool {
        guard case .json(let body) = body else { return false }
        var isDeep = false
        _ = body.mapObjects { object, isTop in
            if !isTop, object.contains(where: { Self.isCredential($0.value) }) { isDeep = true }
            return object
        }
        return isDeep
    }
}

extension JSON {
    /// This value with the members of its objects replaced, the inner ones first.
    fileprivate func mapObjects(
        isTop: Bool = true, _ change: ([Member], _ isTop: Bool) -> [Member]
    ) -> JSON {
        switch self {
        case .object(let members):
            .object(
                change(
                    members.map { Member($0.name, $0.value.mapObjects(isTop: false, change)) },
                    isTop))
        case .array(let elements): .array(elements.map { $0.mapObjects(isTop: false, change) })
        default: self
        }
    }

    /// The text of a string, and the JSON of everything else.
    var plainText: String { string ?? text }
}

/// A text in percent-encoding (RFC 3986 §2.1).
func percentEncoded(_ text: String) -> String {
    let form = Form([(text, .plain(""))]).encoded().revealed()
    return String(decoding: form.dropLast(), as: UTF8.self)
}
