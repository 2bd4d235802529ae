internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// A configuration that exists already, and what `siwa init` would change in it. Other settings and
/// profiles stay.
struct ReplacedConfiguration: Sendable {
    let path: String
    /// The changed configuration.
    let json: JSON
    /// What would change, one line for each setting: `profiles.app.team_id: A1B2C3D4E5 → B1B2C3D4E5`.
    let differences: [String]

    /// - Throws: ``SettingsError`` if the existing configuration cannot be read.
    init(_ path: String, changedTo settings: InitialSettings, in world: World) throws {
        self.path = path
        let old: JSON
        do {
            old = try JSON(try world.files.read(path).contents.revealed())
        } catch {
            throw SettingsError(
                "the existing configuration \(path) cannot be read: \(error)",
                hints: ["fix it, or move it away"])
        }
        json = Self.merged(old, settings.json)
        differences = Self.differences(old, json, at: "")
    }

    private static func merged(_ old: JSON, _ new: JSON) -> JSON {
        let profiles = (new["profiles"]?.members ?? []).map { profile in
            JSON.Member(
                profile.name,
                merged(profile: old["profiles"]?[profile.name], profile.value))
        }
        let all = JSON.object(replacing(profiles, in: old["profiles"]?.members ?? []))
        var members = new.members ?? []
        // Another default profile, and a server's own settings, are the user's choice.
        members.removeAll { member in
            ["default_profile", "server"].contains(member.name) && old[member.name] != nil
        }
        return .object(
            replacing(
                members.filter { $0.name != "profiles" } + [.init("profiles", all)],
                in: old.members ?? []))
    }

    private static func merged(profile old: JSON?, _ new: JSON) -> JSON {
        var members = old?.members ?? []
        // A key replaces a client_secret of another machine; the audiences were those of the client.
        members.removeAll { $0.name == "client_secret_file" }
        if old?["client_id"] != new["client_id"] { members.removeAll { $0.name == "audiences" } }
        return .object(replacing(new.members ?? [], in: members))
    }

    /// The old members in their order, with new values, then the new members.
    private static func replacing(_ new: [JSON.Member], in old: [JSON.Member]) -> [JSON.Member] {
        let names = old.map(\.name)
        return old.map { member in new.first { $0.name == member.name } ?? member }
            + new.filter { !names.contains($0.name) }
    }

    private static func differences(_ old: JSON?, _ new: JSON?, at place: String) -> [String] {
        guard old != new else { return [] }
        guard let before = old?.members, let after = new?.members else {
            return ["\(place): \(shown(old)) → \(shown(new))"]
        }
        let names = (before + after).map(\.name).unique
        return names.flatMap { name in
            differences(old?[name], new?[name], at: place.isEmpty ? name : "\(place).\(name)")
        }
    }

    /// A value without the password of a URL.
    private static func shown(_ value: JSON?) -> String {
        guard let value else { return "not set" }
        guard let text = value.string else { return printable(value.text, limit: 300) }
        return printable(text.mentions("://") ? withoutPassword(text) : text, limit: 300)
    }
}
