internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// `--deploy`: runs a program with a secret that was written to a file, until it has succeeded.
///
/// A marker file exists from before the file is replaced until the program has succeeded, so that
/// the program is repeated after a failure or a crash.
struct SecretDeployment {
    private let program: String
    /// The file of the secret.
    private let file: String
    private let session: Session

    /// - Throws: ``SettingsError`` under `--strict`, if others can write the program.
    init(_ program: String, of file: String, _ session: Session) throws(SettingsError) {
        (self.program, self.file, self.session) = (program, file, session)
        try session.examine(
            FileWarning(
                "the program", program, session.world.files.status(program), isSecret: false,
                in: session.world), .configuration)
    }

    private var marker: String { Self.marker(of: file) }
    private var files: World.Files { session.world.files }

    /// The file that exists from before `file` is replaced until the program has succeeded.
    static func marker(of file: String) -> String { file + ".deploy-pending" }

    /// Creates the marker; called before the file is replaced.
    func markPending() throws(FileError) {
        try files.replace(SecretBytes([]), marker, .marker)
    }

    /// Runs the program if an earlier run has not succeeded.
    ///
    /// - Returns: whether it ran.
    func runIfPending(_ secret: ClientSecret, _ line: SecretBytes) throws -> Bool {
        guard files.exists(marker) else { return false }
        try run(secret, line)
        return true
    }

    /// Runs the program.
    ///
    /// - Throws: ``Diagnosis`` with exit code 8 if it fails.
    func run(_ secret: ClientSecret, _ line: SecretBytes) throws {
        let child = ChildProgram(
            program, input: line, variables: variables(of: secret), withheld: withheld,
            limit: Self.limit, output: session.console.deployedLines)
        let ending: ProgramEnding
        do {
            ending = try session.world.ending.completing { try session.world.runProgram(child) }
        } catch let error as FileError {
            throw failure(error.description)
        }
        guard ending == .exit(0) else { throw failure(ending.words(program)) }
        session.console.note("\(program) deployed the client_secret")
        do throws(FileError) {
            try files.remove(marker)
        } catch {
            session.console.warn("\(error); the next run deploys again")
        }
    }

    /// The time limit in seconds.
    private static let limit = 60

    private func variables(of secret: ClientSecret) -> [String: String] {
        [
            "SIWA_CLIENT_ID": secret.clientID.rawValue, "SIWA_TEAM_ID": secret.teamID.rawValue,
            "SIWA_KEY_ID": secret.keyID.rawValue, "SIWA_EXPIRES_AT": secret.expiresAt.rfc3339,
        ]
    }

    /// The variables that contain secrets.
    private var withheld: Set<String> {
        var names: Set = [
            "SIWA_PRIVATE_KEY", "SIWA_CLIENT_SECRET", "SIWA_VAULT_KEY", "SIWA_VAULT_URL",
            "PGPASSWORD",
        ]
        if case .variable(let name)? = session.settings.selection.key { names.insert(name) }
        return names
    }

    private func failure(_ reason: String) -> Diagnosis {
        Diagnosis(
            .deployFailed, "the client_secret is in \(file), but was not deployed: \(reason)",
            hints: ["fix the program; the next run with --deploy \(program) repeats it"],
            exitCode: .deployFailed)
    }
}

extension ProgramEnding {
    /// How the program ended, as a sentence.
    fileprivate func words(_ program: String) -> String {
        switch self {
        case .exit(let code): "\(program) ended with exit code \(code)"
        case .signal(let number): "signal \(number) ended \(program)"
        case .overdue: "\(program) did not end within 60 s and was stopped"
        }
    }
}
