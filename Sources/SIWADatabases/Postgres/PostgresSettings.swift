internal import Glibc
internal import SIWACPostgres
internal import SIWALifecycle

/// The settings that libpq derives from URL, service file, environment and its own defaults, as far
/// as siwa needs them.
struct PostgresSettings: Equatable {
    /// The servers, in libpq's form: several are separated by commas.
    var host: String?
    var address: String?
    /// `sslmode`.
    var mode: String?
    /// Whether the mode was set and is not libpq's default.
    var isModeStated: Bool
    /// Where the mode is set; nil for the URL.
    var modePlace: String?
    /// `sslrootcert`.
    var rootCertificate: String?

    /// Whether every server is on this machine, so that no network is used.
    var isLocal: Bool { servers.allSatisfy(Self.isLocal) }

    /// Whether a server's name may have to be resolved over the network.
    var needsNameServer: Bool {
        servers.contains { !Self.isLocal($0) && !Self.isAddress($0) }
    }

    /// The address of each server, or its name if no address is given.
    private var servers: [String] {
        let hosts = Self.list(host), addresses = Self.list(address)
        return (0..<max(hosts.count, addresses.count)).map { index in
            let address = index < addresses.count ? addresses[index] : ""
            return address.isEmpty && index < hosts.count ? hosts[index] : address
        }
    }

    private static func isAddress(_ host: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, host, &bytes) == 1 || inet_pton(AF_INET6, host, &bytes) == 1
    }

    private static func list(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
    }

    /// An empty name denotes the Unix socket in libpq's own folder.
    private static func isLocal(_ host: String) -> Bool {
        if host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") { return true }
        if host.lowercased() == "localhost" { return true }
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 {
            return UInt32(bigEndian: four.s_addr) >> 24 == 127
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, host, &six) == 1 else { return false }
        return withUnsafeBytes(of: six) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }
}

extension PostgresSettings {
    /// Lets libpq derive the settings, without connecting.
    ///
    /// - Throws: of kind `unusable` if the service does not exist.
    init(_ url: PostgresURL, _ postgres: siwa_postgres) throws(DatabaseFailure) {
        // An invalid value, with which libpq reads all settings and then stops.
        let impossible = "siwa-does-not-connect"
        let connection = postgres.start([
            ("dbname", url.text), ("target_session_attrs", impossible),
        ])
        defer { postgres.call.PQfinish(connection) }
        let options = connection.map { Self.options($0, postgres) } ?? [:]
        guard options["target_session_attrs"]?.value == impossible else {
            let words = postgres.call.PQerrorMessage(connection).map { String(cString: $0) } ?? ""
            throw DatabaseFailure(.unusable, ConnectionRefusal(words).message)
        }
        (host, address) = (options["host"]?.value, options["hostaddr"]?.value)
        mode = options["sslmode"]?.value
        rootCertificate = options["sslrootcert"]?.value.flatMap { $0.isEmpty ? nil : $0 }
        let isInService = ServiceFile.states("sslmode", in: url.service)
        let isInVariable = getenv("PGSSLMODE") != nil
        isModeStated =
            url.statesMode || isInVariable || isInService
            || mode != options["sslmode"]?.standard
        if !url.statesMode {
            // In libpq's order.
            modePlace =
                isInService
                ? "PostgreSQL's service file" : isInVariable ? "environment PGSSLMODE" : nil
        }
    }

    /// The settings of a connection.
    fileprivate static func options(
        _ connection: OpaquePointer, _ postgres: siwa_postgres
    ) -> [String: (value: String?, standard: String?)] {
        guard let all = postgres.call.PQconninfo(connection) else { return [:] }
        defer { postgres.call.PQconninfoFree(all) }
        var options: [String: (String?, String?)] = [:]
        var option = all
        while let keyword = option.pointee.keyword.map({ String(cString: $0) }) {
            // Other settings, such as a password, are not needed here.
            if Self.keywords.contains(keyword) {
                options[keyword] = (
                    option.pointee.val.map { String(cString: $0) },
                    option.pointee.compiled.map { String(cString: $0) }
                )
            }
            option += 1
        }
        return options
    }

    private static let keywords: Set = [
        "host", "hostaddr", "sslmode", "sslrootcert", "target_session_attrs", "user", "dbname",
        "port",
    ]
}

/// Whom a connection asks the server to be, and for which database.
struct PostgresRole {
    let name: String
    let database: String
    /// Whether the server is on this machine.
    let isLocal: Bool
    /// The option of PostgreSQL's programs for another port than theirs, after a space.
    let portOption: String

    /// Describes a role.
    ///
    /// - Parameter port: that of the server; nil for PostgreSQL's own.
    init(name: String, database: String, isLocal: Bool, port: String? = nil) {
        (self.name, self.database, self.isLocal) = (name, database, isLocal)
        portOption = port.map { $0 == "5432" ? "" : " --port \($0)" } ?? ""
    }

    init(_ connection: OpaquePointer, _ postgres: siwa_postgres) {
        let options = PostgresSettings.options(connection, postgres)
        func text(_ keyword: String) -> String? { options[keyword]?.value }
        let name = text("user") ?? ""
        self.init(
            name: name, database: text("dbname") ?? name,
            isLocal: PostgresSettings(
                host: text("host"), address: text("hostaddr"), isModeStated: false
            ).isLocal, port: text("port"))
    }
}

/// Connection service files (PostgreSQL's documentation, "The Connection Service File"). libpq
/// reads them, but does not report which settings they contain.
enum ServiceFile {
    /// Whether a service sets `keyword`.
    static func states(_ keyword: String, in service: String?) -> Bool {
        let variable = { getenv($0).map { String(cString: $0) } }
        guard let service = service ?? variable("PGSERVICE") else { return false }
        let user = variable("PGSERVICEFILE") ?? home.map { $0 + "/.pg_service.conf" }
        let folder = variable("PGSYSCONFDIR") ?? "/etc/postgresql-common"
        return [user, folder + "/pg_service.conf"].contains { path in
            path.flatMap(contents).map { states(keyword, in: service, $0) } ?? false
        }
    }

    /// Whether a service sets `keyword` in the text of one file.
    static func states(_ keyword: String, in service: String, _ text: String) -> Bool {
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.drop { $0.isWhitespace }
            if line.hasPrefix("[") {
                isInside = line.hasPrefix("[\(service)]")
            } else if isInside, line.prefix(while: { $0 != "=" }) == keyword {
                return true
            }
        }
        return false
    }

    private static func contents(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
