internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The result of `siwa init`: the written files, the checks, and the next steps.
struct InitResult: Sendable {
    let path: String
    /// The file of the private key.
    let key: String
    let settings: InitialSettings
    let vault: VaultCreation?
    let report: DoctorReport

    /// - Parameter isFound: whether commands find the configuration without `--config`.
    func rendered(on terminal: Terminal, isFound: Bool) -> Report {
        let checks = report.rendered(on: terminal)
        let members: [JSON.Member] = [
            .init("config", .string(path)), .init("private_key", .string(key)),
            .init("profiles", .array(settings.profileNames.map { .string($0) })),
            .init("vault", vault.map { .string($0.url) } ?? .null),
            .init("vault_key_file", vault?.keyFile.map { .string($0) } ?? .null),
        ]
        let text =
            files(on: terminal) + [""] + report.checkLines(on: terminal) + [""]
            + next(isFound ? "" : " --config \(path)")
        return Report(
            .object(members + (checks.json.members ?? [])),
            text: SecretText(text.joined(separator: "\n")),
            of: Deed(
                "the configuration was written to \(path)",
                hint: "check it with 'siwa doctor --config \(path)'"))
    }

    private func files(on terminal: Terminal) -> [String] {
        let profiles = settings.profileNames.joined(separator: ", ")
        var rows = [
            ["configuration", path], ["profiles", profiles], ["private key", key],
        ]
        if let vault {
            rows.append(["vault", vault.url])
            rows += vault.keyFile.map { [["vault keys", $0]] } ?? []
        }
        let table = TextTable(for: rows, width: terminal.width)
        return rows.flatMap { table.lines(of: $0.map { printable($0, limit: 1000) }) }
    }

    private func next(_ config: String) -> [String] {
        let steps =
            [
                ("siwa doctor --online\(config)", "ask Apple whether key and ids work"),
                ("siwa secret\(config)", "print a client_secret"),
            ]
            + (vault?.keyFile.map { [("cp \($0) …", "back up the vault's keys, apart from it")] }
                ?? [])
        return ["Next:"] + steps.flatMap { ["  \($0.0)", "      \($0.1)"] }
    }
}
