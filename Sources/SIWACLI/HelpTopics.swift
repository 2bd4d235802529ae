internal import SIWAApplication
internal import SIWACommandTable

extension HelpTopic {
    /// `siwa help errors`: the catalogue of errors.
    static let errors = HelpTopic(
        "errors", "CODE", page: ("siwa-errors", 7),
        "Explain the codes of errors, and what to do about them.",
        discussion: """
            An error of siwa and of siwa-server begins with a code: 'siwa: invalid_grant: what \
            happened'. With --json, and in answers of siwa-server, it is the member code. The code \
            stays the same in all versions 1.x; the words after it do not.
            """
    ) {
        ErrorCode.groups.map { group in
            Group(
                group.title,
                group.entries.map { Entry($0.code.rawValue, [$0.meaning, $0.remedy]) })
        }
    }

    /// `siwa help settings`: the members of the configuration.
    static let settings = HelpTopic(
        "settings", "MEMBER", page: ("siwa-config.json", 5),
        "Explain the members of the configuration file.",
        discussion: """
            The configuration is one JSON object. The file is --config, else $SIWA_CONFIG, else \
            ~/.config/siwa/config.json, else /etc/siwa/config.json. Flags win over variables, and \
            variables over the file. An unknown member is an error. Paths are relative to the \
            file, and durations are written 90s, 15m, 12h or 30d.

            'siwa config show' prints every setting in effect and its origin.
            """
    ) {
        SettingEntry.groups.map { title, entries in
            Group(title, entries.map { Entry($0.member, [$0.meaning] + $0.places) })
        }
    }
}

extension SettingEntry {
    /// The flag and the variable with the same meaning, as a sentence.
    fileprivate var places: [String] {
        let names = [flag, variable].compactMap(\.self)
        return names.isEmpty ? [] : ["The same as \(names.joined(separator: " and "))."]
    }
}
