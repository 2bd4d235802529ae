internal import CommandTable
internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// `siwa vault import`: take many tokens in.
struct VaultImportCommand: Command {
    static let name = "vault import"
    static let abstract = "Take refresh tokens into the vault, a line of JSON each."
    static let discussion = """
        A line is {"user_id", "refresh_token", "client_id"?, "state"?, "stored_at"?, \
        "changed_at"?, "checked_at"?}, as 'siwa vault export --reveal' writes it; token is another \
        name for refresh_token, times are RFC 3339 or seconds since 1970, and other members are \
        passed over. A line without a client belongs to the one of the settings, one without a \
        state is active, one without stored_at is stored now.

        A token that the vault knows changes only from active or revoking, and only if the \
        line's changed_at is later; nothing becomes active again. Lines are stored in groups; a \
        run that was stopped can be run again from the start. Invalid lines are reported and \
        skipped; the exit code is then 1.
        """
    static let examples = [
        Example("siwa vault import tokens.jsonl", "Take in the tokens of a file."),
        Example(
            "psql -Atc \"select json_build_object('user_id', sub, 'token', token) from t\" | "
                + "siwa vault import",
            "Take in the tokens of a table."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand(
                "FILE", \.input, help: "Read lines from FILE; - reads standard input.",
                completion: .file),
            VaultArgument.option(\.vault),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var input = InputArgument.standard
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try global.checkPrinted(among: ["imported", "updated", "unchanged", "invalid"])
        let session = try Session(TypedSettings(global: global, vault: vault), in: world)
        let clientID = session.settings.text(.clientID) == nil ? nil : try session.clientID()
        var intake = VaultIntake(
            try session.vault(.statement), keys: session.vaultKeys, clientID, now: world.clocks.now)
        do {
            try await world.forEachLines(of: input.path) { lines in
                for line in lines { try intake.take(line) }
            }
            try intake.flush()
        } catch {
            if intake.counts != VaultImportCounts() {
                session.console.note(
                    "\(intake.counts.imported) tokens were imported before it stopped; "
                        + "importing them again does no harm")
            }
            throw error
        }
        try session.report(
            Report([
                "imported": .integer(intake.counts.imported),
                "updated": .integer(intake.counts.updated),
                "unchanged": .integer(intake.counts.unchanged),
                "invalid": .integer(intake.invalid.count),
            ]))
        try intake.invalid.check()
    }
}
