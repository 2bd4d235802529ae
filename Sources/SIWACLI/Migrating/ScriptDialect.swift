internal import SIWAApplication
internal import SIWACommandTable

/// The database that a script is for, and what its SQL says differently.
enum ScriptDialect: String, CaseIterable, ParameterValue {
    case postgresql
    case mysql
    case sqlite

    /// What a table of a script is for.
    enum Purpose {
        /// Created before the transaction, and replaced by the next run.
        case staging
        /// Created before the transaction, and kept.
        case kept
        /// Needed in the transaction only.
        case working
    }

    /// A name of the database: `"name"`, or `` `name` ``.
    func quoted(_ name: String) -> String {
        let mark: Character = self == .mysql ? "`" : "\""
        return "\(mark)" + name.map { $0 == mark ? "\(mark)\(mark)" : "\($0)" }.joined()
            + "\(mark)"
    }

    /// A table, with its schema if it has one.
    func table(_ name: String) -> String {
        name.split(separator: ".").map { quoted(String($0)) }.joined(separator: ".")
    }

    /// A text literal. Backslashes have no meaning in a script.
    func literal(_ text: String) -> String {
        "'" + text.map { $0 == "'" ? "''" : "\($0)" }.joined() + "'"
    }

    /// The value as text that is compared byte by byte.
    func text(_ value: String) -> String {
        switch self {
        case .postgresql: "(\(value))::text COLLATE \"C\""
        case .mysql: "CONVERT(\(value) USING utf8mb4) COLLATE utf8mb4_bin"
        case .sqlite: "CAST(\(value) AS TEXT) COLLATE BINARY"
        }
    }

    /// A text in lower case.
    func lowered(_ text: String) -> String { self.text("LOWER(\(text))") }

    var null: String { text("NULL") }

    /// Texts, one after the other.
    func joined(_ first: String, _ second: String) -> String {
        self == .mysql ? "CONCAT(\(first), \(second))" : "\(first) || \(second)"
    }

    /// Joins tables in the order in which the database must read them: every one but the first has
    /// an index.
    func inOrder(_ tables: [String]) -> String {
        tables.joined(separator: self == .mysql ? " STRAIGHT_JOIN " : " CROSS JOIN ")
    }

    /// A table of the script, read by an index: MySQL does not know how many rows a table has that
    /// this transaction filled, and chooses badly.
    func using(_ index: String, of table: String) -> String {
        self == .mysql ? "\(table) FORCE INDEX (\(index))" : table
    }

    /// A table of the script itself.
    func ownTable(_ name: String, _ purpose: Purpose) -> String {
        self == .postgresql && purpose != .working
            ? "\(quoted("siwa_migration")).\(quoted(name))" : quoted(name)
    }
}

// Statements.
extension ScriptDialect {
    /// The type of a column of the script's tables.
    enum ColumnType {
        case number
        case text
        case label
    }

    private func type(_ type: ColumnType) -> String {
        switch (self, type) {
        case (_, .number): "INTEGER"
        case (.mysql, .text): "VARCHAR(255)"
        case (.mysql, .label): "VARCHAR(190)"
        case (.postgresql, _): "text COLLATE \"C\""
        case (.sqlite, _): "TEXT"
        }
    }

    /// Creates a table of the script.
    ///
    /// - Parameter keys: the columns of the indexes; the first is the primary key, whose columns
    ///   make the others unique.
    func create(
        _ name: String, _ purpose: Purpose, _ columns: [(String, ColumnType)], keys: [String]
    ) -> String {
        let isTemporary = purpose == .working && self != .mysql
        let table = ownTable(name, purpose)
        let lines =
            columns.map { "\($0.0) \(type($0.1))" }
            + keys.prefix(1).map { "PRIMARY KEY (\($0))" }
            + keys.enumerated().dropFirst().map { index($0.offset, $0.element, primary: keys[0]) }
        var text = purpose == .kept || isTemporary ? "" : "DROP TABLE IF EXISTS \(table);\n"
        if isTemporary, self == .sqlite { text += "DROP TABLE IF EXISTS temp.\(table);\n" }
        text += "CREATE \(isTemporary ? "TEMPORARY " : "")TABLE "
        text += (purpose == .kept ? "IF NOT EXISTS " : "") + table
        text += " (\n    " + lines.joined(separator: ",\n    ") + "\n)"
        switch self {
        case .mysql: text += " ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
        case .postgresql: text += isTemporary ? " ON COMMIT DROP" : ""
        case .sqlite: break
        }
        return text + ";\n"
    }

    /// An index of a table that is being created: PostgreSQL and SQLite have only unique ones
    /// there, and MySQL's are limited to 3072 bytes.
    private func index(_ number: Int, _ columns: String, primary: String) -> String {
        guard self != .mysql else { return "KEY key_\(number) (\(columns))" }
        let names = "\(columns),\(primary)".split(separator: ",").map {
            String($0.filter { $0 != " " })
        }
        return "UNIQUE (\(names.unique.joined(separator: ", ")))"
    }

    /// Raises an error if the condition holds.
    ///
    /// - Parameter number: differs for every check of a script.
    func check(_ number: Int, _ message: String, unless isBad: String) -> String {
        switch self {
        case .postgresql:
            """
            DO $siwa$ BEGIN
                IF \(isBad) THEN RAISE EXCEPTION '%', \(literal("siwa: " + message)); END IF;
            END $siwa$;

            """
        case .sqlite:
            """
            DROP TABLE IF EXISTS temp.siwa_check_\(number);
            CREATE TEMPORARY TABLE siwa_check_\(number) (
                is_bad INTEGER CONSTRAINT \(quoted("siwa: " + message)) CHECK (is_bad = 0)
            );
            INSERT INTO siwa_check_\(number) SELECT \(isBad);
            DROP TABLE siwa_check_\(number);

            """
        case .mysql:
            """
            SET @siwa_ok = 0, @siwa_bad = 1;
            SET @siwa_bad = (\(isBad));
            SET @siwa_ok = IF(@siwa_bad = 0, 1, 0);
            SELECT \(literal("siwa: " + message)) AS `stopped` FROM DUAL WHERE @siwa_ok = 0;
            DO IF(@siwa_ok = 1, 0, (SELECT 1 UNION SELECT 2));
            SET @siwa_end = IF(@siwa_ok = 1, 'DO 0', CONCAT('KILL CONNECTION ', CONNECTION_ID()));
            PREPARE siwa_end FROM @siwa_end;
            EXECUTE siwa_end;

            """
        }
    }

    /// The condition under which changes may be made: after a failed check, a client that goes on
    /// after errors must not make any.
    var mayChange: [String] { self == .mysql ? ["@siwa_ok = 1"] : [] }

    /// Begins a transaction.
    ///
    /// - Parameter tables: the tables of the application, in which nobody else writes meanwhile.
    func begin(_ tables: [String]) -> String {
        switch self {
        case .postgresql:
            """
            BEGIN;
            SET LOCAL lock_timeout = '30s';
            LOCK TABLE \(tables.map(table).joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE;

            """
        case .mysql: "START TRANSACTION;\n"
        case .sqlite: "BEGIN IMMEDIATE;\n"
        }
    }

    /// Updates the statistics of a table of the script.
    func analyze(_ table: String) -> String {
        self == .postgresql ? "ANALYZE \(table);\n" : ""
    }

    /// Changes rows of a table from those of a table of the script.
    ///
    /// - Parameter index: the index of the other table that finds a row's change.
    func update(
        _ table: String, _ alias: String, set column: String, to value: String,
        from changes: String, by index: String, where conditions: [String]
    ) -> String {
        let condition = conditions.joined(separator: "\n    AND ")
        return switch self {
        case .mysql:
            """
            UPDATE \(table) \(alias) STRAIGHT_JOIN \(using(index, of: "\(changes) w"))
            SET \(alias).\(quoted(column)) = \(value)
            WHERE \(condition);

            """
        case .postgresql:
            """
            UPDATE \(table) AS \(alias) SET \(quoted(column)) = \(value)
            FROM \(changes) w
            WHERE \(condition);

            """
        case .sqlite:
            // With FROM, SQLite may read the whole table for each change.
            """
            UPDATE \(table) AS \(alias) SET \(quoted(column)) = (
                SELECT \(value) FROM \(changes) w
                WHERE \(condition)
            )
            WHERE EXISTS (
                SELECT 1 FROM \(changes) w
                WHERE \(condition)
            );

            """
        }
    }
}

// What the client programs need.
extension ScriptDialect {
    /// How a script is run.
    var call: String {
        switch self {
        case .postgresql: "psql -X -d DATABASE -f FILE"
        case .mysql: "mysql DATABASE < FILE, without --force"
        case .sqlite: "sqlite3 DATABASE < FILE"
        }
    }

    /// The first line of a script: the program must stop at the first error.
    ///
    /// MySQL's client cannot be told so. If it goes on after an error, a failed check ends the
    /// connection, and with it the transaction.
    var firstLine: String {
        switch self {
        case .postgresql: "\\set ON_ERROR_STOP on\n"
        case .mysql: "-- For mysql without --force: it must stop at the first error.\n"
        case .sqlite: ".bail on\n"
        }
    }

    /// The settings of a script.
    var preamble: String {
        switch self {
        case .postgresql:
            """
            \\set QUIET on
            \\pset pager off
            SET client_encoding = 'UTF8';
            SET client_min_messages = warning;
            SET standard_conforming_strings = on;
            SET row_security = off;

            """
        case .mysql:
            """
            SET NAMES utf8mb4 COLLATE utf8mb4_bin;
            SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_BACKSLASH_ESCAPES';
            SET SESSION autocommit = 1, SESSION sql_safe_updates = 0, SESSION innodb_lock_wait_timeout = 30;
            SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE;
            SET @siwa_ok = 0;

            """
        case .sqlite:
            """
            .headers on
            .timeout 30000

            """
        }
    }
}
