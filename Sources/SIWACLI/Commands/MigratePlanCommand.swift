internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASystem

/// `siwa migrate plan`: prints a script that moves users in the application's own database.
struct MigratePlanCommand: Command {
    static let name = "migrate plan"
    static let abstract = "Print SQL that gives users their new ids in the application's database."
    static let discussion = """
        FILE is the output of 'siwa migrate import'. The script is for psql, mysql or sqlite3; siwa \
        connects to no database. Read the script before it is run. It changes the stored user ids, \
        and addresses of Apple's relay, in one transaction, and ends with ROLLBACK: run it once to \
        see what it would do. With --commit its last line is COMMIT instead.

        --match says which id the application has stored: old_user_id, or transfer_id if the users \
        were handed over under it. Lines whose status is not done are skipped. If a line cannot be \
        used, if two lines have the same id, or if a new id is another user's old one, these are \
        listed, and no script is printed; the exit code is then 1.

        The script counts the users before and after: changed, already_applied (only the new id is \
        stored), already_linked (both ids belong to one account), conflict (they belong to two \
        accounts, because the user signed in with the new team before the script was run) and \
        absent. Conflicts are listed and never merged; the script stops at them, or leaves these \
        users alone with --skip-conflicts. Running it twice changes nothing more. The table \
        siwa_migration_<digest>_before keeps every value that was changed, and the script of \
        --inverse restores from it what still has the value that the script wrote.

        Recipes have the names of the default schema; --table, --id-column, --provider-column, \
        --email-column and --join replace them. The page docs/migration.md describes each recipe, \
        and services that have no table to change.
        """
    static let examples = [
        Example(
            "siwa migrate plan --recipe django-allauth --dialect postgresql --match old_user_id "
                + "--inverse inverse.sql import.jsonl > plan.sql",
            "Write a script to read, and the one that takes it back."),
        Example(
            "siwa migrate plan --recipe custom --dialect mysql --match old_user_id --table users "
                + "--id-column uid --provider-column provider --email-column users.email "
                + "import.jsonl > plan.sql",
            "Write a script for the schema of Devise."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand(
                "FILE", \.input,
                help: "Read results of an import from FILE; - reads standard input.",
                completion: .file),
            .option(
                "match", \.$member, value: "MEMBER",
                help: "The id that the application has stored."),
        ] + RecipeOptions.parameters(at: \.recipe) + [
            .flag(
                "skip-conflicts", \.skipsConflicts,
                help: "Leave users with two accounts alone, and change the others."),
            .flag("commit", \.commits, help: "End the scripts with COMMIT in place of ROLLBACK."),
            .option(
                "inverse", \.inverse, value: "FILE",
                help: "Write the script that restores the old values to FILE, a new file.",
                completion: .file),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var input = InputArgument.standard
    @Required var member: MatchedMember
    var recipe = RecipeOptions()
    var skipsConflicts = false
    var commits = false
    var inverse: String?

    func run(in world: World) async throws {
        let session = try Session(global, in: world)
        try session.checkNothingIsPicked()
        let (recipe, dialect) = try recipe.resolved()
        if let inverse, world.files.status(inverse) != nil {
            throw UsageError.Problem.misuse(
                message: "--inverse: the file \(printable(inverse)) exists",
                hints: ["name a new file"])
        }
        var plan = MigrationPlan(matching: member, in: world)
        try await read(&plan, session)
        try plan.check()
        let sql = PlanExpressions(
            dialect: dialect, recipe: recipe, digest: try plan.digest(for: recipe, dialect))
        if let inverse {
            let script = InverseScript(sql: sql, commits: commits)
            try world.files.create(SecretBytes(Array(script.text.utf8)), inverse)
        }
        try await write(
            PlanScript(
                sql: sql, count: plan.count, skipsConflicts: skipsConflicts, commits: commits),
            plan, session)
    }

    private func read(_ plan: inout MigrationPlan, _ session: Session) async throws {
        let input = try StreamingLines(input.path, in: session.world)
        let progress = RecordProgress(session, "lines read", of: .lines) {
            { input.source.expectedLines }
        }
        while let lines = try await input.next() {
            for line in lines { try plan.take(line) }
            try session.world.ending.checkSignal()
            progress.add(lines.count)
        }
        progress.end()
    }

    private func counted(_ count: Int, _ one: String, _ many: String) -> String {
        "\(count) \(count == 1 ? one : many)"
    }

    private func write(
        _ script: PlanScript, _ plan: MigrationPlan, _ session: Session
    ) async throws {
        let output = try StreamingOutput(to: nil, in: session.world)
        try await output.write(Array(script.beginning.utf8))
        try await plan.writePairs(script, to: output, session.world.ending)
        try await output.write(Array(script.end.utf8))
        try output.close()
        let counts = [
            "the script has " + counted(plan.count, "user", "users"),
            counted(plan.skipped, "line is not done", "lines are not done"),
            counted(plan.unchanged, "user keeps the id", "users keep their ids"),
        ]
        session.console.note(counts.filter { !$0.hasPrefix("0 ") }.joined(separator: "; "))
    }
}
