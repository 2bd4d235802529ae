internal import SignInWithApple

extension Diagnosis {
    /// What is to be done about a vault that cannot do what it was asked to.
    init(_ error: VaultError) {
        self.init(
            "vault", error.message, hints: error.kind.remedies,
            exitCode: error.isTemporary ? .temporary : .settings)
    }
}

extension VaultError.Kind {
    /// What to do, the likeliest cause first.
    var remedies: [String] {
        guard self == .untrusted else { return [remedy] }
        return [
            remedy,
            """
            or accept a weaker connection: add sslmode=require (encrypted, to any server) or \
            sslmode=disable (plain text) to vault.url
            """,
        ]
    }

    /// What to do.
    var remedy: String {
        switch self {
        case .notInitialized: "check vault.url and --vault; 'siwa vault init' makes a vault"
        case .alreadyInitialized: "use it as it is, or name another place with --vault"
        case .tooNew: "install the siwa that the other machines have"
        case .unusable: "check vault.url, and whether this user may read and write there"
        case .unavailable: "install what is missing, then run it again"
        case .busy: "another process holds the vault: run it again in a moment"
        case .full: "make room, then run it again: what was not reported was not changed"
        case .untrusted:
            """
            add sslrootcert=FILE to vault.url, with FILE the certificate of the authority that \
            issued the server's; or put it into ~/.postgresql/root.crt
            """
        case .unreachable: "check that the server runs and can be reached, then run it again"
        case .damaged: "restore the vault from its backup; 'siwa vault check' looks at all of it"
        case .key: "bring back the key file that belongs to this vault; its numbers tell"
        case .keySuperseded: "run it again: the keys are read anew"
        case .recordDamaged:
            "restore the row from a backup of the database, or delete it there"
        case .sealBroken: "restore that record from a backup, or take it out: siwa vault remove"
        }
    }
}
