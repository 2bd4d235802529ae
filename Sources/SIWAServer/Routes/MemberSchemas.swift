internal import JOSE

// What the members of requests and the parameters of queries are, as `RequestMembers` reads them.
extension Schema {
    /// The most characters of a text.
    static let longestText = 16_384

    /// A text without NUL.
    static func text(_ description: String) -> Schema {
        .string(description, minLength: 1, maxLength: longestText, pattern: #"^[^\u0000]*$"#)
    }

    /// A code or a token of Apple's: visible ASCII without quotation marks, and no JWT.
    static func opaqueToken(_ description: String) -> Schema {
        .string(
            description, minLength: 1, maxLength: longestText, pattern: "^(?!eyJ)[!#-&(-~]+$")
    }

    /// The verifier of a code_challenge.
    static func codeVerifier(_ description: String) -> Schema {
        .string(description, minLength: 1, maxLength: longestText, pattern: "^[!#-&(-~]+$")
    }

    /// An App ID or a Services ID.
    static func clientID(_ description: String) -> Schema {
        .string(description, minLength: 1, maxLength: 255, pattern: "^[!-~]+$")
    }

    /// A user id; Apple's have no other characters.
    static func userID(_ description: String) -> Schema {
        .string(description, minLength: 1, maxLength: 255, pattern: "^[!-~]+$")
    }

    /// A position that an earlier answer had, in digits.
    static func cursor(_ description: String, longest: Int) -> Schema {
        .string(
            description, minLength: 1, maxLength: longest,
            pattern: "^(0|[1-9][0-9]{0,\(longest - 1)})$")
    }

    /// The most seconds of a duration: ten years.
    static let longestDuration = 315_360_000

    /// Seconds, or a text such as `15m`.
    ///
    /// - Parameter seconds: the most, if they are so few that a text is seconds as well.
    static func duration(_ description: String, atMost seconds: Int? = nil) -> Schema {
        let text: JSON =
            seconds == nil
            ? "^(?=.)([0-9]{1,4}d)?([0-9]{1,5}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$"
            : "^([12]?[0-9]|30)s$"
        return Schema([
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
