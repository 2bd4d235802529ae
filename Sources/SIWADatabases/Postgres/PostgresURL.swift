internal import SIWACPostgres
internal import SIWAJOSE
internal import SIWALifecycle

/// A URL in libpq's format, with the settings that siwa needs.
struct PostgresURL {
    let text: String
    /// The timeout of connecting, in seconds.
    let connectTimeout: Int
    /// Whether it has an `sslmode`.
    let statesMode: Bool
    /// The section of a service file that it takes settings from.
    let service: String?

    /// - Throws: of kind `unusable`, without libpq's message, which could contain a part of a
    ///   password that is not percent-encoded.
    init(_ text: String, _ postgres: siwa_postgres) throws(DatabaseFailure) {
        let options = Self.options(text, postgres)
        guard let options, Self.isUnambiguous(text), Self.arePorts(options["port"]) else {
            throw DatabaseFailure(
                .unusable,
                "PostgreSQL's library does not understand the vault's URL; in a password "
                    + "everything but letters and digits must be percent-encoded")
        }
        self.text = text
        statesMode = options["sslmode"] != nil
        service = options["service"]
        let asked = options["connect_timeout"].flatMap { Int($0) } ?? 0
        connectTimeout = asked > 0 ? min(asked, 3600) : 10
    }

    /// Whether the text before an `@` can only be user and password.
    private static func isUnambiguous(_ text: String) -> Bool {
        let start = text.utf8.firstIndex(of: UInt8(ascii: "/")) ?? text.startIndex
        let rest = text.utf8[start...].dropFirst(2)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") }
        let path = rest[authority.endIndex...].prefix { $0 != UInt8(ascii: "?") }
        return authority.count { $0 == UInt8(ascii: "@") } <= 1 && !path.contains(UInt8(ascii: "@"))
    }

    /// One port, or several for several servers.
    private static func arePorts(_ text: String?) -> Bool {
        text?.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ",") } ?? true
    }

    /// The settings in the URL, by libpq's names.
    private static func options(_ text: String, _ postgres: siwa_postgres) -> [String: String]? {
        var message: UnsafeMutablePointer<CChar>?
        let parsed = postgres.call.PQconninfoParse(text, &message)
        postgres.call.PQfreemem(message)
        guard let parsed else { return nil }
        defer { postgres.call.PQconninfoFree(parsed) }
        var options: [String: String] = [:]
        var option = parsed
        while let keyword = option.pointee.keyword {
            options[String(cString: keyword)] = option.pointee.val.map { String(cString: $0) }
            option += 1
        }
        return options
    }
}
