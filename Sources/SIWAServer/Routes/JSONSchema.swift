import SIWAJOSE

/// A JSON Schema (2020-12), as OpenAPI 3.1 uses it.
struct JSONSchema: Hashable, Sendable {
    /// The schema as a JSON object (JSON Schema 2020-12).
    let json: JSON

    /// Creates a schema from JSON.
    init(_ json: JSON) { self.json = json }

    /// A string; its lengths are counted in characters of Unicode.
    static func string(
        _ description: String? = nil, among values: [String]? = nil, minLength: Int? = nil,
        maxLength: Int? = nil, pattern: String? = nil, format: String? = nil
    ) -> Self {
        Self(
            type: "string", description,
            values.map { ("enum", .array($0.map { .string($0) })) },
            minLength.map { ("minLength", .integer($0)) },
            maxLength.map { ("maxLength", .integer($0)) },
            pattern.map { ("pattern", .string($0)) }, format.map { ("format", .string($0)) })
    }

    /// A whole number.
    static func integer(
        _ description: String? = nil, _ range: ClosedRange<Int>? = nil
    ) -> Self {
        Self(
            type: "integer", description, range.map { ("minimum", .integer($0.lowerBound)) },
            range.map { ("maximum", .integer($0.upperBound)) })
    }

    /// `true` or `false`.
    static func boolean(_ description: String? = nil) -> Self {
        Self(type: "boolean", description)
    }

    static func array(of element: JSONSchema, _ description: String? = nil) -> Self {
        Self(type: "array", description, ("items", element.json))
    }

    /// An object with the members of `properties`, in their order.
    ///
    /// - Parameters:
    ///   - oneOf: exactly one of these members is required.
    ///   - isOpen: whether other members are allowed.
    static func object(
        _ properties: [(String, JSONSchema)], required: [String] = [], oneOf: [String] = [],
        isOpen: Bool = false
    ) -> Self {
        Self(
            type: "object", nil,
            ("properties", .object(properties.map { .init($0.0, $0.1.json) })),
            required.isEmpty ? nil : ("required", .array(required.map { .string($0) })),
            oneOf.isEmpty ? nil : ("oneOf", .array(oneOf.map { ["required": [.string($0)]] })),
            isOpen ? nil : ("additionalProperties", false))
    }

    private init(type: String, _ description: String?, _ members: (String, JSON)?...) {
        let all =
            [("type", JSON.string(type)), description.map { ("description", .string($0)) }]
            + members
        json = .object(all.compactMap(\.self).map { .init($0.0, $0.1) })
    }
}
