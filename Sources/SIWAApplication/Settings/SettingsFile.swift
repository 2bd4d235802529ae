internal import SIWACommandTable
internal import SIWACrypto
package import SIWAJOSE
internal import SIWALifecycle

/// The configuration file, read strictly: an unknown member is an error, because a misspelled
/// setting would be ignored silently.
package struct SettingsFile: Sendable {
    package let path: String
    /// Identifies its contents.
    package let fingerprint: String
    package let defaultProfile: String?
    let isStrict: Bool
    package let profiles: [String: Profile]
    package let profileNames: [String]
    /// The members of the file itself, which apply to all profiles.
    let common: Profile
    /// The settings of siwa-server, unread; nil if absent.
    package let server: JSON?
    /// A warning if other users may write it.
    package var warning: FileWarning?
    /// Whether its permissions let other users write it.
    var isWritableByOthers = false

    /// The members of one profile; ``SettingsFile`` has checked their types.
    package struct Profile: Sendable {
        fileprivate let members: JSON

        package func text(_ name: SettingName) -> String? { member(name)?.string }
        /// The signer in place of a key file, unread.
        var signer: JSON? { member(.privateKey).flatMap { $0.members == nil ? nil : $0 } }
        func number(_ name: SettingName) -> Int? { member(name)?.integer }
        package func list(_ name: SettingName) -> [String]? {
            member(name)?.elements?.compactMap(\.string)
        }

        private func member(_ name: SettingName) -> JSON? {
            (name.group.map { members[$0] } ?? members)?[name.name]
        }
    }

    /// - Throws: ``SettingsError``, which names the file, the member, and the line if known.
    init(path: String, text: [UInt8]) throws(SettingsError) {
        let source = Source(path: path, text: text)
        let root = try source.root()
        try source.check(root, in: nil, against: Self.topLevel)
        self.path = path
        fingerprint = SecretText(SecretBytes(text)).fingerprint
        defaultProfile = root["default_profile"]?.string
        isStrict = root["strict"]?.boolean ?? false
        common = Profile(members: root)
        server = root["server"]
        try source.checkGroup(root, in: nil)
        let members = root["profiles"]?.members ?? []
        for profile in members {
            try source.check(profile.value, in: profile.name, against: Self.profile)
            try source.checkGroup(profile.value, in: profile.name)
            try source.checkSigner(profile.value, in: profile.name)
        }
        profileNames = members.map(\.name)
        profiles = Dictionary(
            members.map { ($0.name, Profile(members: $0.value)) }, uniquingKeysWith: { $1 })
        if let defaultProfile, profiles[defaultProfile] == nil {
            throw source.error(
                "default_profile names '\(defaultProfile)', which is not among its profiles",
                near: "default_profile",
                hints: didYouMean(suggestions(for: defaultProfile, among: profileNames)))
        }
    }

    private typealias Member = (name: String, type: any JSONConvertible.Type)

    private static let topLevel: [Member] = [
        ("default_profile", String.self), ("strict", Bool.self), ("profiles", JSONObject.self),
        vault, ("server", JSONObject.self),
    ]

    private static let vault: Member = ("vault", JSONObject.self)

    private static let vaultMembers: [Member] =
        [SettingName.vaultURL, .vaultKeyFile].map { ($0.name, String.self) }

    private static let profile: [Member] =
        [
            SettingName.teamID, .clientID, .keyID, .clientSecret, .secretLifetime, .redirectURI,
            .baseURL, .caFile, .timeout,
        ].map { ($0.member, String.self) }
        + [
            (SettingName.privateKey.member, PathOrSigner.self),
            (SettingName.audiences.member, StringList.self),
            (SettingName.maxAttempts.member, Int.self), vault,
        ]

    /// The text, for finding line numbers.
    private struct Source {
        let path: String
        let text: [UInt8]

        func root() throws(SettingsError) -> JSON {
            do {
                return try JSON(text)
            } catch {
                throw SettingsError(
                    "the configuration \(path) \(error)",
                    hints: ["fix line \(error.line); config.example.json shows the format"])
            }
        }

        /// The vault of a profile, or of the whole file.
        func checkGroup(_ object: JSON, in profile: String?) throws(SettingsError) {
            guard let vault = object[SettingsFile.vault.name] else { return }
            try check(vault, in: profile, against: SettingsFile.vaultMembers, group: "vault of ")
        }

        /// The signer of a profile in place of a key file.
        func checkSigner(_ object: JSON, in profile: String) throws(SettingsError) {
            let name = SettingName.privateKey.member
            guard let signer = object[name], signer.members != nil else { return }
            try check(signer, in: profile, against: SignerSetting.members, group: "\(name) of ")
            guard let fault = SignerSetting.fault(of: signer) else { return }
            throw error("\(name) of profile '\(profile)' \(fault)", near: name, in: profile)
        }

        func check(
            _ object: JSON, in profile: String?, against members: [Member], group: String = ""
        ) throws(SettingsError) {
            let place = group + (profile.map { "profile '\($0)'" } ?? "the configuration")
            do throws(ShapeError) {
                let reader = try JSONObjectReader(
                    object, at: place, knowing: members.map(\.name))
                for member in members { try reader.check(member.name, member.type) }
            } catch {
                throw self.error(error, in: profile)
            }
        }

        private func error(_ error: ShapeError, in profile: String?) -> SettingsError {
            switch error.fault {
            case .notAnObject: self.error("\(error.place) \(error.fault)", near: profile)
            case .unknown(let name, let known):
                self.error(
                    "\(error.place) has the unknown member '\(name)'", near: name, in: profile,
                    hints: didYouMean(suggestions(for: name, among: known)))
            case .wrong(let name, let shape, let kind):
                self.error(
                    "'\(name)' of \(error.place) must be \(shape), not \(kind)", near: name,
                    in: profile)
            case .missing, .other: self.error(error.description, near: profile)
            }
        }

        func error(
            _ message: String, near member: String?, in profile: String? = nil,
            hints: [String] = []
        ) -> SettingsError {
            let line =
                member.flatMap { self.line(of: $0, in: profile) }.map { ", line \($0)" } ?? ""
            return SettingsError(
                "\(message) (\(path)\(line))",
                hints: hints.isEmpty ? ["fix it in \(path)"] : hints)
        }

        /// The line of a member; in a profile, of the first one of that name after the profile's
        /// own. Nil if it cannot be distinguished from another.
        private func line(of name: String, in profile: String?) -> Int? {
            var places = places(of: name)
            if let profile, let profiles = self.places(of: "profiles").first {
                guard let own = self.places(of: profile).first(where: { $0 > profiles }) else {
                    return nil
                }
                places = Array(places.first { $0 > own }.map { [$0] } ?? [])
            }
            guard places.count == 1 else { return nil }
            return 1 + text[..<places[0]].count { $0 == 0x0A }
        }

        /// The positions at which a text is the name of a member.
        private func places(of name: String) -> [Int] {
            let quoted = JSON.string(name).bytes
            return text.indices.filter { start in
                text[start...].starts(with: quoted)
                    && text[(start + quoted.count)...].first {
                        ![0x20, 0x09, 0x0A, 0x0D].contains($0)
                    }
                        == UInt8(ascii: ":")
            }
        }
    }
}

/// A JSON object, which ``SettingsFile`` reads further.
private struct JSONObject: JSONConvertible {
    static var shape: String { "an object" }
    let json: JSON

    init?(json: JSON) {
        guard json.members != nil else { return nil }
        self.json = json
    }
}

/// An array of strings.
struct StringList: JSONConvertible {
    static var shape: String { "an array of strings" }
    let json: JSON

    init?(json: JSON) {
        guard json.elements?.allSatisfy({ $0.string != nil }) == true else { return nil }
        self.json = json
    }
}
