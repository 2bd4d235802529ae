import SIWATestSupport
import Testing

/// The scripts of `siwa migrate plan` in sqlite3 and psql, on the tables of Auth.js.
///
/// `make test-migrations` has the other recipes and MariaDB.
@Suite(.blocking) struct MigrationPlanTests {
    @Test(.enabled(if: Executable.installed("sqlite3") != nil, "needs sqlite3"))
    func `sqlite3 applies a plan, refuses a conflict, and takes the plan back`() async throws {
        let site = try MigrationSite("sqlite")
        try await checkPlan(site) { script in
            let sqlite3 = try #require(Executable.installed("sqlite3"))
            return try await sqlite3.run(
                .init([site.folder.path("site.db")], input: .bytes(Array(script.utf8))))
        }
    }

    @Test(
        .enabled(
            if: PostgresServer.isAvailable && Executable.installed("psql") != nil,
            "needs PostgreSQL"))
    func `psql applies a plan, refuses a conflict, and takes the plan back`() async throws {
        let site = try MigrationSite("postgresql")
        let url = try await PostgresServer.shared().database()
        try await checkPlan(site) { script in
            let psql = try #require(Executable.installed("psql"))
            let path = try site.folder.write("script.sql", script)
            return try await psql.run(
                .init(
                    ["-X", "-d", url, "-f", path],
                    environment: ["PATH": "/usr/local/bin:/usr/bin:/bin"]))
        }
    }

    private func checkPlan(
        _ site: MigrationSite, _ run: (String) async throws -> ProgramResult
    ) async throws {
        func answer(_ script: String) async throws -> String {
            let result = try await run(script)
            #expect(result.exitCode == 0, "\(result)")
            return result.output
        }
        func stored() async throws -> String { try await answer(MigrationSite.contents) }

        _ = try await answer(MigrationSite.schema)
        let before = try await stored()
        #expect(before.contains("changed-1.old") && before.contains("old@privaterelay.appleid.com"))

        let refused = try await run(try await site.plan("--commit"))
        #expect(refused.exitCode != 0)
        #expect(refused.errors.contains("conflicts: users have two accounts"), "\(refused)")
        #expect(refused.output.contains("conflict-5.new"), "\(refused)")
        #expect(try await stored() == before)

        _ = try await answer(try await site.plan("--skip-conflicts"))
        #expect(try await stored() == before, "ROLLBACK")

        let script = try await site.plan("--skip-conflicts", "--commit", "--inverse", "inverse.sql")
        let counts = try await answer(script)
        #expect(Self.numbers(counts, "changed") == [2, 0], "\(counts)")
        #expect(Self.numbers(counts, "already_applied") == [1, 3], "\(counts)")
        #expect(Self.numbers(counts, "already_linked") == [1, 1], "\(counts)")
        #expect(Self.numbers(counts, "conflict") == [1, 1], "\(counts)")
        #expect(Self.numbers(counts, "absent") == [1, 1], "\(counts)")
        let after = try await stored()
        #expect(after.contains("changed-1.new") && after.contains("changed-2.new"), "\(after)")
        #expect(after.contains("new@privaterelay.appleid.com"), "\(after)")
        #expect(after.contains("own@example.com") && after.contains("conflict-5.old"), "\(after)")

        #expect(Self.numbers(try await answer(script), "changed") == [0, 0])
        #expect(try await stored() == after, "the second run")

        _ = try await answer(
            String(decoding: try site.folder.contents("inverse.sql"), as: UTF8.self))
        #expect(try await stored() == before, "the inverse")
    }

    /// The numbers of a state before and after the change, from the last table of counts.
    private static func numbers(_ output: String, _ state: String) -> [Int] {
        output.split(separator: "\n").map { line in
            line.split { $0 == "|" || $0 == " " }
        }.filter { $0.first?.elementsEqual(state) == true && $0.count == 3 }.last?.dropFirst()
            .compactMap { Int($0) } ?? []
    }
}

/// The database of a website made with Auth.js, and an import of its users.
private struct MigrationSite {
    let folder: TemporaryFolder
    let dialect: String

    init(_ dialect: String) throws {
        folder = try TemporaryFolder()
        self.dialect = dialect
        let addresses = [
            "changed-1": "new@privaterelay.appleid.com",
            "changed-2": "other@privaterelay.appleid.com",
        ]
        let lines = ["changed-1", "changed-2", "applied-3", "linked-4", "conflict-5", "absent-6"]
            .map {
                user in
                let address = addresses[user].map { #","email":"\#($0)""# } ?? ""
                return
                    #"{"user_id":"\#(user).new","old_user_id":"\#(user).old"\#(address),"status":"done"}"#
                    + "\n"
            }
        try folder.write("import.jsonl", lines.joined())
    }

    /// Runs `siwa migrate plan`.
    ///
    /// - Returns: the script.
    func plan(_ arguments: String...) async throws -> String {
        let more = arguments.map { $0.hasSuffix(".sql") ? folder.path($0) : $0 }
        let result = try await Executable.product("siwa").run(
            .init(
                [
                    "migrate", "plan", "--recipe", "authjs", "--dialect", dialect, "--match",
                    "old_user_id", folder.path("import.jsonl"),
                ] + more, environment: ["HOME": folder.path]))
        #expect(result.exitCode == 0, "\(result)")
        return result.output
    }

    static let contents = """
        SELECT "userId", provider, "providerAccountId" FROM accounts ORDER BY 1, 2, 3;
        SELECT id, email FROM users ORDER BY 1;

        """

    /// The tables of Auth.js's adapters, with their unique indexes.
    static let schema = """
        CREATE TABLE users (id VARCHAR(36) PRIMARY KEY, email VARCHAR(255) UNIQUE);
        CREATE TABLE accounts (
            "userId" VARCHAR(36) NOT NULL, provider VARCHAR(150) NOT NULL,
            "providerAccountId" VARCHAR(150) NOT NULL, PRIMARY KEY (provider, "providerAccountId"));
        INSERT INTO users VALUES ('1', 'old@privaterelay.appleid.com'), ('2', 'own@example.com'),
            ('3', 'three@example.com'), ('4', NULL), ('5', NULL), ('6', NULL);
        INSERT INTO accounts VALUES ('1', 'apple', 'changed-1.old'), ('2', 'apple', 'changed-2.old'),
            ('3', 'apple', 'applied-3.new'), ('4', 'apple', 'linked-4.old'),
            ('4', 'apple', 'linked-4.new'), ('5', 'apple', 'conflict-5.old'),
            ('6', 'apple', 'conflict-5.new'), ('6', 'google', 'changed-1.old');

        """
}
