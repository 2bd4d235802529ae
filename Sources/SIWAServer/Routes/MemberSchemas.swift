internal import SIWAJOSE

// The schemas of request members and query parameters, with the rules of `RequestMembers`.
extension JSONSchema {
    /// The maximum number of characters of a text.
    static let longestText = 16_384

    /// A text without NUL characters.
    static func text(_ description: String) -> JSONSchema {
        .string(description, minLength: 1, maxLength: longestText, pattern: #"^[^\u0000]*$"#)
    }

    /// A code or a token from Apple: visible ASCII without quotation marks, and not a JWT.
    static func opaqueToken(_ description: String) -> JSONSchema {
        .string(
            description, minLength: 1, maxLength: longestText, pattern: "^(?!eyJ)[!#-&(-~]+$")
    }

    /// The verifier of a code_challenge.
    static func codeVerifier(_ description: String) -> JSONSchema {
        .string(description, minLength: 1, maxLength: longestText, pattern: "^[!#-&(-~]+$")
    }

    /// An App ID or a Services ID.
    static func clientID(_ description: String) -> JSONSchema {
        .string(description, minLength: 1, maxLength: 255, pattern: "^[!-~]+$")
    }

    /// A user id: any text that the vault can store. JSON Schema counts characters, not bytes.
    ///
    /// - Parameter isInTarget: whether it is in a path or a query, which contain no control
    ///   characters.
    static func userID(_ description: String, isInTarget: Bool = false) -> JSONSchema {
        .string(
            description + " At most 255 bytes in UTF-8.", minLength: 1, maxLength: 255,
            pattern: isInTarget ? #"^[^\u0000-\u001f\u007f-\u009f]+$"# : #"^[^\u0000]+$"#)
    }

    /// The cursor of an earlier page, in digits.
    static func cursor(_ description: String, longest: Int) -> JSONSchema {
        .string(
            description, minLength: 1, maxLength: longest,
            pattern: "^(0|[1-9][0-9]{0,\(longest - 1)})$")
    }

    /// The longest duration, in seconds: ten years.
    static let longestDuration = 315_360_000

    /// A number of seconds, or a string such as `15m`.
    ///
    /// - Parameter seconds: the longest duration; nil for ``longestDuration``. With a limit, a
    ///   string has the unit `s` only.
    static func duration(_ description: String, atMost seconds: Int? = nil) -> JSONSchema {
        let text: JSON =
            seconds == nil
            ? "^(?=.)([0-9]{1,4}d)?([0-9]{1,5}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$"
            : "^([12]?[0-9]|30)s$"
        return JSONSchema([
            "description": .string(description),
            "oneOf": [
                [
                    "type": "integer", "minimum": 0,
                    "maximum": .integer(seconds ?? longestDuration),
                ],
                ["type": "string", "pattern": text],
            ],
        ])
    }
}
