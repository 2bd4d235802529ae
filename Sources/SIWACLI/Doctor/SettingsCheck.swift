internal import SIWAApplication
internal import SIWALifecycle

/// Checks the settings: their values, their origin, and their validity.
struct SettingsCheck: Sendable {
    private let context: DoctorContext
    private var settings: Settings { context.settings }

    init(_ context: DoctorContext) { self.context = context }

    var lines: [CheckLine] {
        [
            configuration, folders, profile, identifier(.teamID, context.teamID),
            identifier(.clientID, context.clientID), identifier(.keyID, context.keyID), lifetime,
            server, authorities,
        ].compactMap(\.self) + profiles
    }

    private var configuration: CheckLine {
        if let fault = context.configurationFault { return CheckLine("configuration", fault) }
        if let warning = settings.file?.warning {
            return CheckLine(
                "configuration", .warning, warning.message, advice: warning.remedy)
        }
        let place = ConfigurationPath(context.settings.selection, in: context.world)
        if let warning = place.warning {
            return CheckLine(
                "configuration", .warning, warning,
                advice: "remove the one that you do not need, or name it with --config")
        }
        return CheckLine(
            "configuration", .ok,
            place.path.map { "\($0.value) (\($0.origin))" }
                ?? "no file: only flags and environment variables are used")
    }

    private var folders: CheckLine? {
        let warnings = UserFolders(context.world.variables).warnings
        guard !warnings.isEmpty else { return nil }
        return CheckLine(
            "folders", .warning, warnings.joined(separator: "; "),
            advice: "set them to absolute paths")
    }

    private var profile: CheckLine? {
        settings.profileName.map { CheckLine("profile", .ok, "\($0.value) (\($0.origin))") }
    }

    private func identifier<ID: Identifier>(
        _ name: SettingName, _ value: Result<ID, SettingsError>
    ) -> CheckLine {
        switch value {
        case .success(let id):
            let origin = settings.text(name)?.origin.description ?? "the key file's name"
            return CheckLine(name.member, .ok, "\(id) (\(origin))")
        case .failure(let error):
            if context.isUnread(settings.text(name)) { return .unread(name.member) }
            // Examining a given secret needs no client.
            guard context.given != nil, settings.text(name) == nil else {
                return CheckLine(name.member, error)
            }
            return CheckLine(name.member, .skipped, "not set, so not compared with the secret")
        }
    }

    private var lifetime: CheckLine? {
        do {
            _ = try settings.secretLifetime()
            return nil
        } catch {
            return CheckLine("secret_lifetime", error)
        }
    }

    /// A note that the following checks concern another server than Apple's.
    private var server: CheckLine? {
        do throws(SettingsError) {
            let url = try settings.baseURL()
            guard url != .apple, let setting = settings.text(.baseURL) else { return nil }
            return CheckLine(
                "base_url", .warning, "\(url), not Apple (\(setting.origin))",
                advice: url == .account
                    ? url.accountWarning
                    : "correct for an emulator; to use Apple, remove it where it is set")
        } catch {
            return CheckLine("base_url", error)
        }
    }

    /// Without this file, nobody is asked.
    private var authorities: CheckLine? {
        do throws(SettingsError) {
            _ = try settings.authorityFile(in: context.world)
            return nil
        } catch {
            return CheckLine("ca_file", error)
        }
    }

    private var profiles: [CheckLine] {
        guard !context.localCandidates.otherProfiles.isEmpty, let client = context.client else {
            return []
        }
        return CheckLine.lines(
            "profiles", ClientFindings(client, context.localCandidates).profiles,
            otherwise: "no other profile contradicts this one")
    }
}

extension BaseURL {
    /// Why sign-ins should not use ``account``.
    var accountWarning: String {
        """
        use \(BaseURL.apple): at \(self), Apple's devices show a web page instead of their own \
        sign-in sheet
        """
    }
}
