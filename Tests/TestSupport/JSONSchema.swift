import Foundation
package import SIWAJOSE

/// A validator of JSON Schema, as far as the schemas of this package go: a keyword that it does not
/// know is a fault, so that none is ignored.
package struct JSONSchema {
    private let root: JSON
    private static let notes: Set<String> = ["$schema", "title", "description", "$defs", "format"]

    package init(_ root: JSON) { self.root = root }

    /// What is wrong with a document; empty if it is valid.
    package func faults(of json: JSON) -> [String] { faults(json, root, "$") }

    private func faults(_ json: JSON, _ schema: JSON, _ place: String) -> [String] {
        (schema.members ?? []).flatMap { keyword -> [String] in
            Self.notes.contains(keyword.name) || ["then"].contains(keyword.name)
                ? [] : fault(json, keyword, schema, place)
        }
    }

    private func fault(
        _ json: JSON, _ keyword: JSON.Member, _ schema: JSON, _ place: String
    ) -> [String] {
        let value = keyword.value
        func unless(_ holds: Bool?) -> [String] {
            holds ?? true ? [] : ["\(place): \(keyword.name) \(value.text.prefix(80))"]
        }
        switch keyword.name {
        case "type": return unless(value.string.map { Self.has(json, type: $0) })
        case "const": return unless(json == value)
        case "enum": return unless(value.elements?.contains(json))
        case "pattern":
            return unless(
                json.string.map {
                    $0.range(of: value.string ?? "", options: .regularExpression) != nil
                })
        case "minimum": return unless(json.integer.map { $0 >= value.integer ?? 0 })
        case "minItems": return unless(json.elements.map { $0.count >= value.integer ?? 0 })
        case "required":
            guard json.members != nil else { return [] }
            return (value.elements ?? []).compactMap(\.string).filter { json[$0] == nil }
                .map { "\(place): '\($0)' is missing" }
        case "$ref":
            let name = value.string?.split(separator: "/").last.map(String.init) ?? ""
            guard let target = root["$defs"]?[name] else { return ["\(place): no \(name)"] }
            return faults(json, target, place)
        case "if":
            guard let then = schema["then"], faults(json, value, place).isEmpty else { return [] }
            return faults(json, then, place)
        default: return nested(json, keyword, schema, place)
        }
    }

    private func nested(
        _ json: JSON, _ keyword: JSON.Member, _ schema: JSON, _ place: String
    ) -> [String] {
        let value = keyword.value
        switch keyword.name {
        case "properties":
            return (value.members ?? []).flatMap { property in
                json[property.name].map {
                    faults($0, property.value, "\(place).\(property.name)")
                } ?? []
            }
        case "additionalProperties":
            return (json.members ?? []).filter { schema["properties"]?[$0.name] == nil }
                .flatMap { faults($0.value, value, "\(place).\($0.name)") }
        case "propertyNames":
            return (json.members ?? []).flatMap { faults(.string($0.name), value, place) }
        case "items":
            return (json.elements ?? []).enumerated().flatMap {
                faults($1, value, "\(place)[\($0)]")
            }
        default: return ["\(place): the keyword '\(keyword.name)' is not known"]
        }
    }

    private static func has(_ json: JSON, type: String) -> Bool {
        switch (type, json) {
        case ("object", .object), ("array", .array), ("string", .string), ("integer", .integer),
            ("boolean", .boolean), ("null", .null):
            true
        default: false
        }
    }
}
