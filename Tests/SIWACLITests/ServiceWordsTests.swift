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

    @Test func `a file that only root may read is given on standard input`() {
        func hints(_ message: String, _ words: ServiceWords) -> [String] {
            words.shown(Diagnosis(.configuration, message, hints: ["own"], exitCode: .settings))
                .hints
        }
        let words = ServiceWords(copies: "/run/c/", isService: true)
        #expect(
            hints("cannot read '/root/users.csv': permission denied", words) == [
                "siwa-admin opens files as the service: give - in place of the file, and "
                    + "< /root/users.csv"
            ])
        for own in ["/var/lib/siwa/vault.key", "/etc/siwa/config.json", "/run/c/config.json"] {
            #expect(hints("cannot read '\(own)': permission denied", words) == ["own"])
        }
        let root = ServiceWords(isService: true)
        #expect(hints("cannot read '/root/users.csv': permission denied", root) == ["own"])
    }
}
