import Testing

@testable import SIWAApplication

/// How messages name the files and commands of the packages' service.
@Suite struct ServiceWordsTests {
    @Test(arguments: [
        ("'siwa vault check' examines all of it", "'siwa-admin vault check' examines all of it"),
        ("Run siwa doctor --online, and look", "Run siwa-admin doctor --online, and look"),
        (
            "create one: siwa-server token add NAME",
            "create one: siwa-admin siwa-server token add NAME"
        ),
        ("fix /run/c/config.json, line 3", "fix /etc/siwa/config.json, line 3"),
        (
            "restore it (runbooks/backup-and-restore)",
            "restore it (/usr/share/doc/siwa/html/docs/runbooks/backup-and-restore.html)"
        ),
        (
            "do it, as runbooks/machine-lost says: siwa vault check",
            "do it, as /usr/share/doc/siwa/html/docs/runbooks/machine-lost.html says: siwa-admin vault check"
        ),
        ("/usr/share/doc/runbooks/x.html", nil),
        // Already so, no command of the service, or no command.
        ("siwa-admin siwa-server check", nil), ("siwa-admin vault init", nil),
        ("'siwa-server serve' creates its tables", nil), ("mint one: 'siwa secret'", nil),
        ("a siwa-server uses the vault", nil), ("siwa vaults", nil),
        ("/usr/bin/siwa vault list", nil), ("/run/cd/config.json", nil),
    ])
    func `commands are those of siwa-admin, and copies are named by their originals`(
        _ message: String, _ shown: String?
    ) {
        let words = ServiceWords(copies: "/run/c/", isService: true)
        #expect(words.shown(message) == shown ?? message)
        #expect(ServiceWords.none.shown(message) == message)
    }

    @Test func `a relative path that leads among the copies is explained`() {
        let words = ServiceWords(copies: "/run/c/", isService: true)
        let absent = "cannot read '/run/c/webhook.secret': no such file or directory"
        #expect(
            words.missingCopy(absent)?.hasSuffix(
                "or create /etc/siwa/webhook.secret, and add "
                    + "LoadCredential=webhook.secret:/etc/siwa/webhook.secret with 'systemctl edit "
                    + "siwa-server'") == true)
        #expect(
            words.missingCopy("there is no vault in '/run/c/vault.db'")
                == "give an absolute path in /var/lib/siwa: the service cannot write to /etc/siwa")
        #expect(words.missingCopy("cannot read '/run/c/a': permission denied") == nil)
        #expect(words.missingCopy("cannot read '/x': no such file or directory") == nil)
    }

    @Test func `a file of a relative name is named with the folder of the service`() async throws {
        let harness = try await CommandHarness()
        harness.memory.with {
            $0.files["/etc/siwa"] = .init(contents: [])
            $0.variables["CREDENTIALS_DIRECTORY"] = "/siwa"
        }
        for (name, shown) in [("apple.secret", "/data/apple.secret"), ("/x/s", "/x/s")] {
            let outcome = await harness.run(["secret", "--lifetime", "90d", "--out", name])
            #expect(outcome.exitCode == 0 && outcome.written == [name], "\(outcome)")
            #expect(
                outcome.errors.contains { $0.contains("wrote \(shown): a client_secret") },
                "\(outcome.errors)")
        }
    }

    @Test(arguments: [
        ("vault import /root/users.csv", "vault import - < /root/users.csv"),
        (
            "vault import --dry-run /root/users.csv",
            "vault import --dry-run - < /root/users.csv"
        ),
        (
            "vault import --map token=t /root/users.csv",
            "vault import - < /root/users.csv, with the other arguments"
        ),
        ("batch revoke --input /root/users.csv", "batch revoke --input - < /root/users.csv"),
        ("batch revoke --input=/root/users.csv", "batch revoke --input - < /root/users.csv"),
        ("revoke --token @/root/users.csv", "revoke --token - < /root/users.csv"),
        ("siwa-server check --config /root/users.csv", nil), ("doctor --jwks=/root/users.csv", nil),
        ("vault check", nil),
    ])
    func `a file that only root may read is given on standard input`(
        _ line: String, _ wanted: String?
    ) {
        let arguments = line.split(separator: " ").map(String.init)
        let command = arguments.prefix {
            !$0.hasPrefix("-") && !$0.hasPrefix("/")
        }.joined(separator: " ")
        func hints(_ message: String, isAdmin: Bool = true) -> [String] {
            ServiceWords(copies: isAdmin ? "/run/c/" : nil, isService: true, arguments: arguments)
                .shown(
                    Diagnosis(.configuration, message, hints: ["own"], exitCode: .settings),
                    of: line.hasPrefix("siwa-server") ? command : "siwa " + command
                )
                .hints
        }
        let message = "cannot read '/root/users.csv': permission denied"
        let hint = wanted.map {
            "siwa-admin opens files as the service; give it yours on standard input: siwa-admin "
                + $0
        }
        #expect(hints(message) == [hint ?? "own"])
        #expect(hints(message, isAdmin: false) == ["own"])
        #expect(hints("cannot read '/root/users.csv': no such file or directory") == ["own"])
        #expect(hints("cannot read '/etc/siwa/config.json': permission denied") == ["own"])
    }

    @Test
    func `a relative path is not of the caller's folder, and those of the service are its own`() {
        func hints(_ file: String, _ reason: String) -> [String] {
            ServiceWords(
                copies: "/run/c/", isService: true, arguments: ["vault", "import", file]
            ).shown(
                Diagnosis(
                    .configuration, "cannot read '\(file)': \(reason)", hints: ["own"],
                    exitCode: .settings), of: "siwa vault import"
            ).hints
        }
        #expect(
            hints("my users.csv", "no such file or directory") == [
                "siwa-admin opens files as the service; give it yours on standard input: siwa-admin "
                    + "vault import - < 'my users.csv'"
            ])
        #expect(hints("/var/lib/siwa/users.csv", "permission denied") == ["own"])
    }
}
