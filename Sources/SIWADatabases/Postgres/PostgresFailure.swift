internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// PostgreSQL's error code, five characters (PostgreSQL's documentation, appendix A, "PostgreSQL
/// Error Codes").
struct SQLState: Hashable {
    let code: String

    /// The kind of error for siwa.
    var kind: StoreError.Kind {
        switch code {
        case "23503": .key
        case "40001", "40P01", "55P03", "57014", "53200": .busy
        // It has no connection for this one; nobody holds anything.
        case "53300": .unreachable
        case "53100": .full
        case "25006": .readOnly
        // If every repetition has a unique violation, its cause is not a race but an unreadable
        // row.
        case "23502", "23505", "23514", "42P01", "42703", "XX001", "XX002": .damaged
        default: isLoss ? .unreachable : .unusable
        }
    }

    /// What may help: repeating the transaction, a new connection, or nothing.
    var remedy: DatabaseFailure.Remedy {
        switch code {
        // Serialization failure, deadlock, or a record that another client has inserted.
        case "40001", "40P01", "23505": .repetition
        default: isLoss ? .reconnection : .none
        }
    }

    /// Whether the server has ended, or disconnects its clients.
    private var isLoss: Bool {
        code.hasPrefix("08")
            || ["25P03", "57P01", "57P02", "57P03", "57P04", "57P05"].contains(code)
    }

    /// What to do; nil if the kind says it.
    ///
    /// - Parameters:
    ///   - role: whom libpq is connected as.
    ///   - message: the server's.
    func advice(to role: PostgresRole, about message: String) -> String? {
        if code == "57014" {
            return """
                if nothing holds the server up, the statement_timeout of the role or of the database is too \
                short: sudo -u postgres psql\(role.portOption) -c 'ALTER ROLE \(role.name.identifierInShell) RESET \
                statement_timeout', and the same with ALTER DATABASE \(role.database.identifierInShell)
                """
        }
        guard code == "42501" else { return nil }
        guard !message.mentions("row-level security") else {
            return """
                siwa needs all rows of its tables: ALTER TABLE … NO FORCE ROW LEVEL SECURITY, or DISABLE ROW \
                LEVEL SECURITY, for the one that the message names
                """
        }
        return """
            the tables, or the database, belong to another role than \(role.name), which vault.url \
            names: 'sudo -u postgres psql\(role.portOption) --dbname \(role.database.quotedForShell) --command "\\dt"' \
            shows the tables and their owner, whom vault.url can name; a table that has another \
            owner than the rest is given back with ALTER TABLE … OWNER TO; if the owner is right, \
            'siwa-server check' and 'siwa doctor' name the missing privilege; if there are no \
            tables, give the database to \(role.name): sudo -u postgres psql\(role.portOption) -c 'ALTER DATABASE \
            \(role.database.identifierInShell) OWNER TO \(role.name.identifierInShell)'
            """
    }

    /// An explanation in addition to the server's message.
    var explanation: String {
        switch code {
        case "23503": "the vault does not know the key that a record is sealed with"
        case "55P03": "others hold the vault for too long"
        case "25006": "the PostgreSQL server is read-only"
        default: "PostgreSQL refuses"
        }
    }
}

/// Why a connection failed, from libpq's verbose message, which contains the server's code.
struct ConnectionRefusal {
    /// The server's code; nil if no server answered.
    let state: SQLState?
    /// One line without the code.
    let message: String

    /// Reads the line `… FATAL:  28P01: password authentication failed …`; drops the lines after
    /// it.
    init(_ text: String) {
        let line = text.split(separator: "\n").first.map { Array($0.utf8) } ?? []
        let place = line.indices.first { Self.isCode(line[$0...].prefix(10)) }
        guard let place else {
            (state, message) = (nil, String(decoding: line, as: UTF8.self))
            return
        }
        let code = line[(place + 3)..<(place + 8)]
        state = SQLState(code: String(decoding: code, as: UTF8.self))
        message = String(decoding: line[..<(place + 2)] + line[(place + 9)...], as: UTF8.self)
    }

    /// `:  28P01: `, which is between the severity, in any language, and the message.
    private static func isCode(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.starts(with: ":  ".utf8) && bytes.dropFirst(8).elementsEqual(": ".utf8)
            && bytes.dropFirst(3).prefix(5).allSatisfy {
                $0.isDigit || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
            }
    }

    /// The kind of error for siwa.
    ///
    /// - Parameter needsPassword: the server asked for a password, and none is set.
    func kind(needsPassword: Bool) -> StoreError.Kind {
        if let state { return state.kind }
        return needsPassword || isAboutTrust || isAboutURL ? .unusable : .unreachable
    }

    /// What to do if the server has no such role or database, or does not let the role in; nil for
    /// other reasons.
    ///
    /// - Parameters:
    ///   - role: whom libpq connects as.
    ///   - needsPassword: whether the server asked for a password, and none is set.
    func remedy(for role: PostgresRole, needsPassword: Bool) -> String? {
        let place = role.isLocal ? "" : ", on the machine of the database"
        let (name, database, port) = (role.name, role.database, role.portOption)
        // Whose home cannot be entered has no password there, either.
        if message.mentions("certificate file"), message.mentions("Permission denied") {
            return """
                let this user enter the folder that the message names; of the service: \
                chown siwa:siwa /var/lib/siwa
                """
        }
        switch needsPassword ? "28P01" : state?.code {
        case "28P01":
            return """
                put the role's password into the file .pgpass in the home of the user that runs siwa (of \
                the service: /var/lib/siwa/.pgpass, owner siwa:siwa, mode 0600), as a line \
                host:port:database:role:password; if it is there, PostgreSQL's own log says whether the \
                password has expired (ALTER ROLE … VALID UNTIL 'infinity'); on the machine of the \
                database itself, the service needs none without a host in vault.url, as long as \
                pg_hba.conf has the method peer
                """
        // "pg_hba.conf rejects connection for …", or "no pg_hba.conf entry for …".
        case "28000" where message.mentions("pg_hba.conf"):
            return """
                let pg_hba.conf admit the role\(place), by the first line that fits: 'local \
                \(database) \(name) peer' for the service on the same machine; sudo -u postgres psql\(port) \
                -c 'SHOW hba_file' names the file, and -c 'SELECT pg_reload_conf()' has it read
                """
        // "Peer authentication failed …", or the role is missing.
        case "28000"
        where name == "root" || message.split { !$0.isLetter }.contains("authentication"):
            return """
                run the command as the user that the database knows: 'siwa-admin' is siwa as the \
                service; or name the role in vault.url
                """
        // The role is there: "role … is not permitted to log in".
        case "28000" where message.split(whereSeparator: { !$0.isLetter }).contains("permitted"):
            return """
                let the role log in\(place): sudo -u postgres psql\(port) -c 'ALTER ROLE \
                \(name.identifierInShell) LOGIN'; or name another one in vault.url
                """
        case "28000":
            return """
                create the role\(place): sudo -u postgres createuser\(port) \(name.quotedForShell); or name \
                another one in vault.url
                """
        case "42501":
            return """
                let the role connect\(place): sudo -u postgres psql\(port) -c 'GRANT CONNECT ON DATABASE \
                \(database.identifierInShell) TO \(name.identifierInShell)'
                """
        // "too many connections for role …", or "for database …".
        case "53300" where message.mentions("connections for role"):
            return """
                close some of the role's connections, which pg_stat_activity lists, or raise their \
                number\(place): sudo -u postgres psql\(port) -c 'ALTER ROLE \(name.identifierInShell) \
                CONNECTION LIMIT 100'
                """
        case "53300" where message.mentions("connections for database"):
            return """
                close some of the database's connections, which pg_stat_activity lists, or raise their \
                number\(place): sudo -u postgres psql\(port) -c 'ALTER DATABASE \
                \(database.identifierInShell) CONNECTION LIMIT 100'
                """
        case "53300":
            return """
                PostgreSQL has no connection left: close some of other programs, which pg_stat_activity \
                lists, or raise max_connections\(place)
                """
        case "3D000":
            return """
                if there was a vault, look for it under another name (sudo -u postgres psql\(port) -l), or \
                restore it from its backup; for a new one, create the \
                database\(place): sudo -u postgres createdb\(port) --owner \(name.quotedForShell) --encoding \
                UTF8 --template template0 \(database.quotedForShell)
                """
        default: return nil
        }
    }

    /// Whether libpq rejects a value of the URL: waiting does not help.
    private var isAboutURL: Bool {
        let words = message.split { !$0.isLetter }
        return words.first == "invalid" || words.contains("invalid") && words.contains("integer")
    }

    /// Whether client and server do not accept each other's security; libpq's own messages are
    /// always English here.
    private var isAboutTrust: Bool {
        let words = message.split { !$0.isLetter }
        let isCut = words.contains("SYSCALL") || words.contains("unexpectedly")
        return !isCut
            && ["SSL", "certificate", "authentication", "password", "GSSAPI"].contains {
                words.contains($0[...])
            }
    }
}

extension String {
    /// A name as SQL in apostrophes of a shell takes it.
    fileprivate var identifierInShell: String {
        let isPlain = allSatisfy { $0.isASCII && ($0.isLowercase || $0 == "_") }
        guard !isPlain || isEmpty else { return self }
        let characters = map { $0 == "\"" ? "\"\"" : $0 == "'" ? #"'\''"# : "\($0)" }
        return "\"" + characters.joined() + "\""
    }
}
