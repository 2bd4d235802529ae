internal import JOSE

/// Reads the members of a JSON object strictly: an unknown member is an error, because it is most
/// likely misspelled.
struct JSONObjectReader {
    /// The object itself.
    let json: JSON
    /// Its path, for messages: `clients[0]`; empty at the top.
    let place: String

    /// Takes an object that has no other members than `names`.
    init(
        _ json: JSON, at place: String = "", knowing names: [String]
    ) throws(ShapeError) {
        guard let members = json.members else {
            throw ShapeError(place, "must be an object, not \(json.kind)")
        }
        for member in members where !names.contains(member.name) {
            throw ShapeError(
                place, "'\(member.name)' is not known; known are \(names.joined(separator: ", "))")
        }
        self.json = json
        self.place = place
    }

    /// The value of a member; nil when it is absent.
    func optional<Value: JSONConvertible>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(ShapeError) -> Value? {
        guard let member = json[name] else { return nil }
        guard let value = Value(json: member) else {
            throw ShapeError(place, "'\(name)' must be \(Value.shape)")
        }
        return value
    }

    /// The value of a member that must be there.
    func required<Value: JSONConvertible>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(ShapeError) -> Value {
        guard let value = try optional(name, as: type) else {
            throw ShapeError(place, "'\(name)' is missing")
        }
        return value
    }

    /// Each element of an array, with its place.
    func elements(_ name: String) throws(ShapeError) -> [(json: JSON, place: String)] {
        guard let array = json[name]?.elements else {
            throw ShapeError(place, "'\(name)' must be an array")
        }
        return array.enumerated().map { ($1, within("\(name)[\($0)]")) }
    }

    /// Each member of an object, with its place.
    func members(_ name: String) throws(ShapeError) -> [(member: JSON.Member, place: String)] {
        guard let members = json[name]?.members else {
            throw ShapeError(place, "'\(name)' must be an object")
        }
        return members.map { ($0, within("\(name).\($0.name)")) }
    }

    private func within(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }
}
