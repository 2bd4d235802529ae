internal import SignInWithApple

/// The settings: what is set, where, and whether it can be what it should be.
struct SettingsCheckup: Sendable {
    private let patient: Patient
    private var settings: Settings { patient.settings }

    init(_ patient: Patient) { self.patient = patient }

    var lines: [CheckLine] {
        [
            configuration, folders, profile, identifier(.teamID, patient.teamID),
            identifier(.clientID, patient.clientID), identifier(.keyID, patient.keyID), lifetime,
            server,
        ].compactMap(\.self) + profiles
    }

    private var configuration: CheckLine {
        if let fault = patient.configurationFault { return CheckLine("configuration", fault) }
        if let warning = settings.file?.warning {
            return CheckLine(
                "configuration", .warning, warning.message, advice: warning.remedy)
        }
        let path = ConfigurationPath(patient.session.options, in: patient.world).path
        return CheckLine(
            "configuration", .ok,
            path.map { "\($0.value) (\($0.origin))" } ?? "none: flags and environment alone count")
    }

    private var folders: CheckLine? {
        let warnings = UserFolders(patient.world.variables).warnings
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
            // A secret that is there to be looked at needs no client.
            guard patient.given != nil, settings.text(name) == nil else {
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

    /// All that is said of Apple below is said of another server then.
    private var server: CheckLine? {
        do throws(SettingsError) {
            let url = try settings.baseURL()
            guard url != .apple, let setting = settings.text(.baseURL) else { return nil }
            return CheckLine(
                "base_url", .warning, "\(url), not Apple (\(setting.origin))",
                advice: url == .account
                    ? url.accountWarning
                    : "right for an emulator; to ask Apple, take it out where it is set")
        } catch {
            return CheckLine("base_url", error)
        }
    }

    private var profiles: [CheckLine] {
        guard !patient.surroundings.otherProfiles.isEmpty, let client = patient.client else {
            return []
        }
        return CheckLine.lines(
            "profiles", ClientFindings(client, patient.surroundings).profiles,
            otherwise: "no other profile contradicts this one")
    }
}

extension BaseURL {
    /// Why sign-ins should not begin at ``account``.
    var accountWarning: String {
        """
        use \(BaseURL.apple): at \(self), Apple's devices show a web page instead of their own \
        sign-in sheet
        """
    }
}
