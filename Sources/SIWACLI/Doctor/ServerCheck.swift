internal import SIWAApplication
internal import SIWALifecycle
internal import SIWAServerRecords

/// Says that the settings of siwa-server are not examined here, where a mistake in them would look well,
/// and what Apple answered a running one last.
struct ServerCheck: Sendable {
    private let context: DoctorContext
    /// Whether the vault can be asked: what does not answer is waited for once.
    private let isVaultOpen: Bool

    /// - Parameter vault: the lines of ``VaultCheck``.
    init(_ context: DoctorContext, after vault: [CheckLine]) {
        (self.context, isVaultOpen) = (context, vault.contains { $0.status == .ok })
    }

    /// Empty if the configuration has no server.
    var lines: [CheckLine] {
        guard context.settings.file?.server != nil else { return [] }
        return refusals + [
            CheckLine(
                "server", .skipped, "the object server of the configuration is not examined here",
                advice: "siwa-server check examines it")
        ]
    }

    /// Whether a line says that Apple refuses a client that may pass all checks.
    static func isRefusal(_ line: CheckLine) -> Bool {
        line.name == "server" && line.status == .warning
    }

    /// Of a transferred app, Apple refuses the codes and tokens of the old team, and accepts the request
    /// that tests its secret.
    private var refusals: [CheckLine] {
        guard isVaultOpen, let clientID = try? context.clientID.get(),
            let teamID = try? context.teamID.get(),
            let survey = try? context.quietSession.serverStore().survey(),
            survey.servers.compactMap(\.facts).flatMap(\.profiles).contains(where: {
                $0.isRefused && $0.clientID == clientID.rawValue && $0.teamID == teamID.rawValue
            })
        else { return [] }
        let other = context.localCandidates.otherProfiles.first {
            $0.clientID == clientID && $0.teamID != teamID
        }
        let transfer = other.map {
            "profile '\($0.name)' has it under another team: if the app was transferred to that team, set "
                + "default_profile to '\($0.name)', and restart siwa-server"
        }
        return [
            CheckLine(
                "server", .warning,
                "Apple refused the last request of siwa-server as \(clientID) of team \(teamID)",
                advice: transfer
                    ?? "if Apple accepts the secret with --online, siwa-server has another one, and loads "
                    + "its settings and key again after: systemctl restart siwa-server; or the app "
                    + "was transferred to another team")
        ]
    }
}
