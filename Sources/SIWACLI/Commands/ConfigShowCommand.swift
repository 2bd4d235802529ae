internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// `siwa config show`: every setting in effect, and where it came from.
struct ConfigShowCommand: Command {
    static let name = "config show"
    static let abstract = "Print every setting in effect and where it comes from."
    static let discussion = "Secrets are shown as the first 12 hexadecimal digits of their SHA-256."
    static let parameters: [Parameter<Self>] =
        [WideFlag.flag(\.isWide)] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var isWide = false

    func run(in world: World) async throws {
        let session = try Session(global, isShowing: true, in: world)
        let rows = try Row.all(session.settings, in: world).map { $0.shown(in: world.words) }
        let path = ConfigurationPath(global.placed, in: world).path
        let json: JSON = .object([
            .init("file", path.map { .string(world.words.shown($0.value)) } ?? .null),
            .init("profile", session.settings.profileName.map { .string($0.value) } ?? .null),
            .init("settings", .object(rows.map { .init($0.name, $0.json) })),
        ])
        let head = [
            Row("file", path.map { Setting(value: .string($0.value), origin: $0.origin) }),
            Row(
                "profile",
                session.settings.profileName.map {
                    Setting(value: .string($0.value), origin: $0.origin)
                }),
        ].map { $0.shown(in: world.words) }
        try session.report(
            Report(
                json, text: SecretText(Row.table(head + rows, on: world.terminal.widened(isWide)))))
    }

    /// One line of the table.
    private struct Row {
        let name: String
        private(set) var value: JSON?
        private(set) var origin: String

        init(_ name: String, _ setting: Setting<JSON>?) {
            self.name = name
            value = setting?.value
            origin = setting.map(\.origin.description) ?? "not set"
        }

        /// The same line, with the files that a person can edit.
        func shown(in words: ServiceWords) -> Row {
            var row = self
            row.value = value.map { value in value.string.map { .string(words.shown($0)) } ?? value
            }
            row.origin = words.shown(origin)
            return row
        }

        var json: JSON {
            ["value": value.map(Self.masked) ?? .null, "origin": .string(origin)]
        }

        private static func masked(_ value: JSON) -> JSON {
            if let items = value.elements { return .array(items.map(masked)) }
            return value.string.map { .string(maskingSecrets(in: $0)) } ?? value
        }

        static func all(_ settings: Settings, in world: World) throws -> [Row] {
            let key = try settings.keySource(in: world)
            return [
                text(settings, .teamID), text(settings, .clientID), keyID(settings, key),
                Row("private_key", key.map { shown($0, settings, world) }),
                Row(
                    "client_secret",
                    try settings.clientSecretPlace(in: world).map { shown($0, world) }),
                text(settings, .secretLifetime, standard: "5m"), text(settings, .redirectURI),
                audiences(settings), address(settings, .baseURL, BaseURL.apple.description),
                Row("ca_file", settings.path(.caFile).map(json)),
                text(settings, .timeout, standard: "30s"),
                Row(
                    "max_attempts",
                    Setting(
                        value: .integer(settings.maxAttemptsSetting.value),
                        origin: settings.maxAttemptsSetting.origin)),
                Row(
                    "vault.url",
                    ((try? settings.vaultURL()) ?? settings.text(.vaultURL)).map {
                        Setting(value: .string(withoutPassword($0.value)), origin: $0.origin)
                    }),
                Row("vault.key_file", vaultKeyFile(settings, world)),
                Row(
                    "strict",
                    Setting(
                        value: .boolean(settings.isStrict.value), origin: settings.isStrict.origin)),
            ]
        }

        private static func text(
            _ settings: Settings, _ name: SettingName, standard: String? = nil
        ) -> Row {
            let fallback = standard.map { Setting(value: $0, origin: .standard) }
            return Row(name.member, (settings.text(name) ?? fallback).map(json))
        }

        private static func audiences(_ settings: Settings) -> Row {
            let client = settings.text(.clientID).map {
                Setting(value: [$0.value], origin: .standard)
            }
            return Row(
                "audiences",
                (settings.audiencesSetting ?? client).map { list in
                    Setting(value: .array(list.value.map { .string($0) }), origin: list.origin)
                })
        }

        /// The file in use; for an embedded vault, it is next to the database unless set.
        private static func vaultKeyFile(
            _ settings: Settings, _ world: World
        ) -> Setting<JSON>? {
            guard let source = try? settings.vaultKeySource(world.variables) else {
                return settings.path(.vaultKeyFile).map(json)
            }
            return Setting(value: .string(source.value.description), origin: source.origin)
        }

        /// A URL; the text before an @ may be a password.
        private static func address(
            _ settings: Settings, _ name: SettingName, _ standard: String? = nil
        ) -> Row {
            guard let setting = settings.text(name), setting.value.contains("@") else {
                return text(settings, name, standard: standard)
            }
            let shown = SecretText(setting.value).description
            return Row(name.member, Setting(value: .string(shown), origin: setting.origin))
        }

        private static func json(_ setting: Setting<String>) -> Setting<JSON> {
            Setting(value: .string(setting.value), origin: setting.origin)
        }

        private static func keyID(_ settings: Settings, _ key: Setting<PrivateKeySource>?) -> Row {
            let named = key?.value.keyIDInName.map {
                Setting(
                    value: $0.rawValue, origin: .keyFileName(key?.value.description ?? ""))
            }
            return Row("key_id", (settings.text(.keyID) ?? named).map(json))
        }

        /// A path unchanged; a secret in an environment variable as its fingerprint.
        private static func shown(
            _ place: Setting<ClientSecretPlace>, _ world: World
        ) -> Setting<JSON> {
            guard case .variable(let name) = place.value, let text = world.variables(name) else {
                return Setting(value: .string(place.value.description), origin: place.origin)
            }
            return Setting(
                value: .string(SecretText(text).description), origin: place.origin)
        }

        /// A path unchanged; a key in an environment variable as its fingerprint.
        private static func shown(
            _ key: Setting<PrivateKeySource>, _ settings: Settings, _ world: World
        ) -> Setting<JSON> {
            let text: String =
                switch key.value {
                case .file(let path): path
                case .standardInput: "-"
                case .variable(let name):
                    world.variables(name).map { SecretText($0).description } ?? ""
                case .signer(let signer):
                    "\(signer.place.description), public key "
                        + ((try? settings.loadKey(in: world))?.publicKey.fingerprint ?? "unusable")
                }
            return Setting(value: .string(text), origin: key.origin)
        }

        /// Rows as a table that fits the terminal.
        static func table(_ rows: [Row], on terminal: Terminal) -> String {
            let cells = rows.map { [$0.name, $0.shownValue, $0.origin] }
            let table = TextTable(for: cells, width: terminal.width)
            return cells.flatMap { row in
                table.lines(of: row) { terminal.output.painted($1, $0 == 0 ? .bold : nil) }
            }.joined(separator: "\n")
        }

        private var shownValue: String {
            switch value {
            case nil: "-"
            case .string(let text): printable(text, limit: 400)
            case .array(let items):
                printable(items.compactMap(\.string).joined(separator: ", "), limit: 400)
            case let value?: value.text
            }
        }
    }
}
