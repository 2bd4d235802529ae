// JSON columns.
extension ScriptDialect {
    /// Whether a member of a JSON column has a value.
    ///
    /// - Parameters:
    ///   - provider: whose element of an array it is.
    ///   - value: an expression.
    func document(
        _ column: String, _ path: MigrationRecipe.DocumentMember.Path, of provider: String,
        has value: String
    ) -> String {
        switch path {
        case .member(let name): return "\(member(name, of: column)) = \(value)"
        case .listed(let array, let member):
            let pair = "'provider', \(literal(provider)), \(literal(member)), \(value)"
            return switch self {
            case .postgresql:
                "(\(column))::jsonb @> jsonb_build_object(\(literal(array)), "
                    + "jsonb_build_array(jsonb_build_object(\(pair))))"
            case .mysql:
                "JSON_CONTAINS(\(column), JSON_OBJECT(\(pair)), '$.\(array)')"
            case .sqlite:
                "EXISTS (SELECT 1 FROM json_each(\(guarded(column)), '$.\(array)') e "
                    + "WHERE \(element(provider, member, value)))"
            }
        }
    }

    /// The text of a member of a JSON column.
    func member(_ name: String, of column: String) -> String {
        switch self {
        case .postgresql: text("(\(column))::jsonb ->> \(literal(name))")
        case .mysql: text("JSON_UNQUOTE(JSON_EXTRACT(\(column), '$.\(name)'))")
        case .sqlite: text("json_extract(\(guarded(column)), '$.\(name)')")
        }
    }

    /// The JSON column with another value of a member that has one.
    func document(
        _ column: String, _ path: MigrationRecipe.DocumentMember.Path, of provider: String,
        from old: String, to new: String
    ) -> String {
        switch path {
        case .member(let name):
            switch self {
            case .postgresql: "jsonb_set((\(column))::jsonb, '{\(name)}', to_jsonb(\(new)))"
            case .mysql: "JSON_SET(\(column), '$.\(name)', \(new))"
            case .sqlite: "json_set(\(column), '$.\(name)', \(new))"
            }
        case .listed(let array, let member):
            listed(column, array, member, of: provider, from: old, to: new)
        }
    }

    private func listed(
        _ column: String, _ array: String, _ member: String, of provider: String,
        from old: String, to new: String
    ) -> String {
        switch self {
        case .postgresql:
            """
            jsonb_set((\(column))::jsonb, '{\(array)}', (
                SELECT jsonb_agg(
                    CASE WHEN e.value ->> 'provider' = \(literal(provider))
                        AND e.value ->> '\(member)' = \(old)
                    THEN jsonb_set(e.value, '{\(member)}', to_jsonb(\(new))) ELSE e.value END
                    ORDER BY e.position)
                FROM jsonb_array_elements((\(column))::jsonb -> '\(array)') WITH ORDINALITY AS e(value, position)))
            """
        case .mysql:
            // The entry is the provider's; JSON_SEARCH compares as LIKE does.
            """
            JSON_SET(\(column), CONCAT(SUBSTRING_INDEX(JSON_UNQUOTE(JSON_SEARCH(
                \(column), 'one', \(literal(pattern(provider))), '|', '$.\(array)[*].provider')), ']', 1),
                '].\(member)'), \(new))
            """
        case .sqlite:
            """
            json_set(\(column), '$.\(array)', (
                SELECT json_group_array(json(CASE WHEN \(element(provider, member, old))
                    THEN json_set(e.value, '$.\(member)', \(new)) ELSE e.value END))
                FROM json_each(\(column), '$.\(array)') e))
            """
        }
    }

    /// The text as a pattern of LIKE with the escape character `|`.
    private func pattern(_ text: String) -> String {
        text.map { "|%_".contains($0) ? "|\($0)" : "\($0)" }.joined()
    }

    /// SQLite's functions fail at a text that is not JSON.
    private func guarded(_ column: String) -> String {
        "CASE WHEN json_valid(\(column)) THEN \(column) END"
    }

    private func element(_ provider: String, _ member: String, _ value: String) -> String {
        "json_extract(e.value, '$.provider') = \(literal(provider)) "
            + "AND json_extract(e.value, '$.\(member)') = \(value)"
    }
}
