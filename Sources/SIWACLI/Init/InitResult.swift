internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The result of `siwa init`: the written files, the checks, and the next steps.
struct InitResult: Sendable {
    let plan: InitPlan
    let vault: VaultCreation?
    let report: DoctorReport

    private var path: String { plan.path }
    private var settings: InitialSettings { plan.settings }

    /// - Parameter isFound: whether commands find the configuration without `--config`.
    func rendered(on terminal: Terminal, isFound: Bool) -> Report {
        let checks = report.rendered(on: terminal)
        let members: [JSON.Member] = [
            .init("config", .string(path)), .init("private_key", .string(plan.key.target)),
            .init("profiles", .array(settings.profileNames.map { .string($0) })),
            .init("vault", vaultURL.map { .string($0) } ?? .null),
            .init("vault_key_file", vault?.keyFile.map { .string($0) } ?? .null),
        ]
        let text =
            files(on: terminal) + [""] + report.checkLines(on: terminal) + [""]
            + (plan.isForServer ? nextOfServer : next(isFound ? "" : " --config \(path)"))
        return Report(
            .object(members + (checks.json.members ?? [])),
            text: SecretText(text.joined(separator: "\n")),
            of: Deed(
                "the configuration was written to \(path)",
                hint: "check it with 'siwa doctor --config \(path)'"))
    }

    /// The vault that was created, or that the service will create.
    private var vaultURL: String? {
        vault?.url ?? (plan.isForServer ? settings.vaultURL.map(withoutPassword) : nil)
    }

    private func files(on terminal: Terminal) -> [String] {
        let profiles = settings.profileNames.joined(separator: ", ")
        var rows = [
            ["configuration", path], ["profiles", profiles], ["private key", plan.key.target],
        ]
        rows += plan.credential.map { [["link to it", $0]] } ?? []
        rows += vaultURL.map { [["vault", $0]] } ?? []
        rows += vault?.keyFile.map { [["vault keys", $0]] } ?? []
        let table = TextTable(for: rows, width: terminal.width)
        return rows.flatMap { table.lines(of: $0.map { printable($0, limit: 1000) }) }
    }

    private func next(_ config: String) -> [String] {
        steps(
            [
                ("siwa doctor --online\(config)", "ask Apple whether key and ids work"),
                ("siwa secret\(config)", "print a client_secret"),
            ]
                + (vault?.keyFile.map {
                    [("cp \($0) …", "back up the vault's keys, apart from it")]
                }
                    ?? []))
    }

    private var nextOfServer: [String] {
        guard plan.old == nil else {
            return steps([
                ("siwa-admin siwa-server check", "check everything that the server opens"),
                ("systemctl restart siwa-server", "let the server read what was changed"),
            ])
        }
        return steps(
            database + [
                ("siwa-admin vault init", "create the vault as the service"),
                ("siwa-admin siwa-server check", "check everything that the server opens"),
                ("systemctl enable --now siwa-server siwa-vault-check.timer", "start it"),
            ])
    }

    /// Role and database for peer authentication; nothing for SQLite or another machine.
    private var database: [(String, String)] {
        let url = settings.vaultURL ?? ""
        let address = url.drop { $0 != ":" }.dropFirst()
        let name = address.dropFirst(3).prefix { $0 != "?" }
        guard !url.hasPrefix("sqlite:"), address.hasPrefix("///"), !name.isEmpty else { return [] }
        let ports = url.drop { $0 != "?" }.dropFirst().split(separator: "&").filter {
            $0.hasPrefix("port=")
        }
        let port = ports.last.map { " --port \($0.dropFirst(5))" } ?? ""
        return [
            (
                "sudo -u postgres createuser\(port) siwa",
                "the role of the service, which needs no password; not if it exists"
            ),
            (
                "sudo -u postgres createdb\(port) --owner siwa --encoding UTF8 --template template0 \(name)",
                "its database; not if it exists"
            ),
        ]
    }

    private func steps(_ steps: [(String, String)]) -> [String] {
        ["Next:"] + steps.flatMap { ["  \($0.0)", "      \($0.1)"] }
    }
}
