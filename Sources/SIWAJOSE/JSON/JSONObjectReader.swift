/// Reads the members of a JSON object strictly: an unknown member is an error, because it is most
/// likely misspelled.
package struct JSONObjectReader {
    /// The object itself.
    package let json: JSON
    /// Its path, for messages: `clients[0]`; empty at the top.
    package let place: String

    /// Takes an object that has no other members than `names`.
    package init(
        _ json: JSON, at place: String = "", knowing names: [String]
    ) throws(ShapeError) {
        guard let members = json.members else {
            throw ShapeError(place, .notAnObject(kind: json.kind))
        }
        for member in members where !names.contains(member.name) {
            throw ShapeError(place, .unknown(member.name, known: names))
        }
        self.json = json
        self.place = place
    }

    /// The value of a member; nil if it is absent.
    package func optional<Value: JSONConvertible>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(ShapeError) -> Value? {
        guard let member = json[name] else { return nil }
        guard let value = Value(json: member) else {
            throw ShapeError(place, .wrong(name, shape: Value.shape, kind: member.kind))
        }
        return value
    }

    /// The value of a required member.
    package func required<Value: JSONConvertible>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(ShapeError) -> Value {
        guard let value = try optional(name, as: type) else {
            throw ShapeError(place, .missing(name))
        }
        return value
    }

    /// Fails if a member has another shape than `type` reads.
    package func check(_ name: String, _ type: any JSONConvertible.Type) throws(ShapeError) {
        guard let member = json[name], type.init(json: member) == nil else { return }
        throw ShapeError(place, .wrong(name, shape: type.shape, kind: member.kind))
    }

    /// Each element of an array, with its place.
    package func elements(_ name: String) throws(ShapeError) -> [(json: JSON, place: String)] {
        guard let array = json[name]?.elements else {
            throw ShapeError(place, "'\(name)' must be an array")
        }
        return array.enumerated().map { ($1, within("\(name)[\($0)]")) }
    }

    /// Each member of an object, with its place.
    package func members(
        _ name: String
    ) throws(ShapeError) -> [(member: JSON.Member, place: String)] {
        guard let members = json[name]?.members else {
            throw ShapeError(place, "'\(name)' must be an object")
        }
        return members.map { ($0, within("\(name).\($0.name)")) }
    }

    private func within(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }
}
