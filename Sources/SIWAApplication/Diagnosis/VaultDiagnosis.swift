package import SIWALifecycle
package import SIWAVaultRecords

extension StoreError: DiagnosableError {
    package var diagnosis: Diagnosis {
        Diagnosis(
            .vault, message, hints: remedy.map { [$0] } ?? kind.remedies,
            exitCode: isTemporary ? .temporary : .settings,
            apiStatus: kind.isAboutAccess ? .unavailable : .internalError, naming: userID)
    }
}

extension StoreError.Kind {
    /// Whether this process cannot use the database, whatever is in it: an outage, a primary that
    /// became a standby, an upgrade that has reached other replicas. Damage and missing keys stay
    /// until an operator acts.
    fileprivate var isAboutAccess: Bool {
        switch self {
        case .busy, .full, .readOnly, .unreachable, .keySuperseded, .tooNew, .tooOld,
            .unusable, .unavailable, .untrusted, .notInitialized, .serverNotInitialized,
            .alreadyInitialized, .inUse,
            .moving, .moved, .copyIncomplete:
            true
        case .damaged, .key, .sealBroken, .tokenInvalid, .recordDamaged: false
        }
    }

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
    package var remedy: String {
        switch self {
        case .notInitialized: "check vault.url and --vault; 'siwa vault init' creates a vault"
        case .serverNotInitialized:
            "check vault.url and --vault; 'siwa-server serve' creates its tables when it starts"
        case .alreadyInitialized: "use it, or give the URL of another database"
        case .tooNew:
            """
            install the newer siwa again, which the other machines have; or restore a backup from \
            before the upgrade
            """
        case .tooOld:
            """
            export the tokens with the siwa that made it (siwa vault export --reveal --output FILE), \
            then import FILE into a new vault (siwa vault init, siwa vault import)
            """
        case .inUse:
            """
            stop it, then run the command again; the place of a server that was killed is free \
            after 30 seconds
            """
        case .moving:
            """
            wait until 'siwa vault copy' has ended, then set vault.url to the new place; if it was \
            interrupted, run it again, or end it with --abort
            """
        case .moved: "set vault.url to the new place"
        case .copyIncomplete:
            "complete it: run 'siwa vault copy' again; or remove it: add --abort"
        case .unusable: "check vault.url, and whether this user may read and write there"
        case .unavailable: "install what is missing, then run it again"
        case .busy: "another process is using the vault: run the command again in a moment"
        case .full:
            "free disk space, then run the command again: only what was reported was changed"
        case .readOnly:
            """
            wait until it is the primary, or set vault.url to the primary, for example with several \
            hosts and target_session_attrs=read-write
            """
        case .untrusted:
            """
            add sslrootcert=FILE to vault.url, with FILE the certificate of the authority that \
            issued the server's; or put it into ~/.postgresql/root.crt
            """
        case .unreachable:
            "check that the server is running and reachable, then run the command again"
        case .damaged: "restore the vault from its backup; 'siwa vault check' examines all of it"
        case .key: "restore the key file of this vault: its key numbers must match"
        case .keySuperseded: "run the command again: it reads the keys again"
        case .tokenInvalid:
            "import the token as Apple issued it, and remove this one: siwa vault remove USER"
        case .recordDamaged, .sealBroken:
            """
            bring the record back as the runbook backup-and-restore says ('One damaged record'), or \
            remove what the vault has of the user: siwa vault remove USER
            """
        }
    }
}

extension Diagnosis {
    /// The vault has no records of a user for this client; other clients may have some.
    package static func noRecord(of user: VaultUser, _ otherClients: [ClientID]) -> Diagnosis {
        negative(
            .noRecord, "the vault has no token of '\(user.userID)' of \(user.clientID)",
            hints: otherClients.map { "it has one of \($0): add --client-id \($0)" } + [
                "check USER, --client-id and --profile; 'siwa vault list' lists the users"
            ])
    }

    /// A signal ended the command before this token was tried.
    package static let notTried = Diagnosis(
        .interrupted, "a signal came before this token was tried", hints: ["run it again"],
        exitCode: .temporary)

    /// A command about several tokens printed its result, and failed for some of them; the failure
    /// whose exit code prevails is reported.
    ///
    /// - Parameters:
    ///   - failures: the failures, at least one.
    ///   - count: the number of all tokens.
    ///   - verb: what was not done, as in "2 of 3 tokens were not revoked".
    ///   - exitCode: the exit code for all of them.
    package static func partial(
        _ failures: [Diagnosis], of count: Int, _ verb: String, exitCode: ExitCode
    ) -> Diagnosis {
        let first = failures.first { $0.exitCode == exitCode }
        let summary =
            count > 1
            ? ["\(failures.count) of \(count) tokens were not \(verb); 'tokens' lists them"] : []
        return Diagnosis(
            recorded: first?.code ?? ErrorCode.failed.rawValue,
            first?.message ?? "some tokens were not \(verb)",
            hints: summary + (first?.hints ?? []), exitCode: exitCode, status: first?.status,
            apple: first?.apple, requestID: first?.requestID)
    }
}
